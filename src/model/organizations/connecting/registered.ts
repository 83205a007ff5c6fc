import { MANAGER, REGISTRATION, SUPPORT } from './pages.js'
import type { Reasons } from './reason.js'

/** What is found of the registration. */
export const REGISTERED_REASONS = {
  registered_right: { state: 'ok', sentence: 'The number is registered ({status})' },
  registered_now: {
    state: 'ok',
    sentence: 'The number is registered now. Note the PIN: it is not stored here',
  },
  registered_unread: {
    state: 'warning',
    sentence: 'WhatsApp does not say whether the number is registered',
    remedy: 'If sends fail with 133010, register it by hand',
    link: REGISTRATION,
    section: 'by-hand',
  },
  number_restricted: {
    state: 'warning',
    sentence:
      'The number has reached its limit of 24 hours (RESTRICTED): it receives and answers, and begins no conversation',
    remedy: 'Wait until the limit counts again from the beginning',
    link: MANAGER,
    section: 'your-own-number',
  },
  number_banned: {
    state: 'failed',
    sentence: 'WhatsApp has banned the number: it can neither send nor receive',
    remedy: 'Ask for a review in Business support home',
    link: SUPPORT,
    section: 'sending',
  },
  pin_missing: {
    state: 'choose',
    sentence: 'The number is not registered ({status})',
    remedy:
      'Give a PIN of six digits: a new one, which you note, or the one of its two-step verification if that is on',
    link: REGISTRATION,
  },
  name_needs_registration: {
    state: 'warning',
    sentence: 'A new display name was approved, and shows when the number is registered again',
    remedy: 'Give the PIN of its two-step verification within 14 days; after that the name is reviewed again',
    link: REGISTRATION,
    section: 'your-own-number',
  },
  not_registered: {
    state: 'failed',
    sentence: 'The number is not registered ({status}): it can neither send nor receive',
    remedy: 'Connect the number again, and give a PIN',
    link: REGISTRATION,
  },
  pin_wrong: {
    state: 'failed',
    sentence: 'The number has another PIN ({text})',
    remedy: 'Change it in WhatsApp Manager, Phone numbers, Two-step verification; do not guess',
    link: MANAGER,
  },
  pin_blocked: {
    state: 'failed',
    sentence: 'Too many PINs were tried ({text})',
    remedy: 'Wait as long as it says, then give the right PIN',
    link: MANAGER,
  },
  number_unverified: {
    state: 'failed',
    sentence: 'The number must be verified again before it can be registered ({text})',
    remedy: 'Turn two-step verification off in WhatsApp Manager, verify the number by SMS, then connect again',
    link: MANAGER,
  },
  registration_blocked: {
    state: 'failed',
    sentence: 'The number was registered ten times in 72 hours, and is blocked for 72 hours ({text})',
    remedy: 'Wait, then connect again once',
    link: REGISTRATION,
  },
  registration_too_soon: {
    state: 'failed',
    sentence: 'The number was deleted in the app a moment ago ({text})',
    remedy: 'Wait five minutes, then connect again',
    link: REGISTRATION,
  },
  registration_needs_name: {
    state: 'failed',
    sentence: 'The display name is still in review, and so the number cannot be registered ({text})',
    remedy: 'Wait for the name, or change it in WhatsApp Manager, then connect again',
    link: MANAGER,
  },
  registration_refused: {
    state: 'failed',
    sentence: 'WhatsApp refused to register the number ({text})',
    remedy: 'Look for the error in the docs',
    link: REGISTRATION,
  },
  registration_unavailable: {
    state: 'failed',
    sentence: 'WhatsApp did not answer to the registration ({text})',
    remedy: 'Connect again: if the number is registered, the PIN is not asked for',
  },
} as const satisfies Reasons
