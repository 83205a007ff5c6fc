import { APPS, ERRORS, MANAGER, REGISTRATION, SETTINGS, SUPPORT, TEMPLATES } from './pages.js'
import type { Reasons } from './reason.js'
import { TRY_AGAIN } from './remedies.js'

/** What came of the test message. */
export const SENT_REASONS = {
  sent_delivered: { state: 'ok', sentence: 'A message to {to} was delivered' },
  sent_underway: {
    state: 'warning',
    sentence: 'WhatsApp has sent a message to {to}, and it has not arrived at the phone yet',
    remedy: 'Look at the phone: it may be off, or without a connection',
  },
  sent_unreported: {
    state: 'warning',
    sentence: 'WhatsApp accepted a message to {to}, and no callback has told what came of it',
    remedy: 'Look at the phone. If the message is there, callbacks do not come',
    link: APPS,
    section: 'callbacks-do-not-come',
  },
  sent_not_yet: {
    state: 'warning',
    sentence: 'No message was sent to {to}: something before is not done yet',
    remedy: 'Do what it says there, then connect again',
    section: '4-connect',
  },
  sent_not_listed: {
    state: 'failed',
    sentence: "{to} is not in the test number's list of recipients ({text})",
    remedy:
      'Add it in the App Dashboard, Use cases, Customize, API setup, in both forms if the country has two, such as with and without the 9',
    link: APPS,
  },
  sent_unregistered: {
    state: 'failed',
    sentence: 'The message to {to} was refused: the number is not registered ({text})',
    remedy: 'Connect again, and give a PIN',
    link: REGISTRATION,
    section: 'registration',
  },
  sent_unpaid: {
    state: 'failed',
    sentence: 'The message to {to} failed: the business account has no valid payment method ({text})',
    remedy: 'Add one to the business account itself, in WhatsApp Manager, Billing & payments',
    link: MANAGER,
    section: 'your-own-number',
  },
  sent_locked: {
    state: 'failed',
    sentence: 'The message to {to} was refused: the business account is restricted ({text})',
    remedy: 'Ask for a review in Business support home',
    link: SUPPORT,
  },
  sent_unnamed: {
    state: 'failed',
    sentence: 'The message to {to} was refused: the display name is not approved ({text})',
    remedy: 'Wait for the review, or choose another name in WhatsApp Manager, Phone numbers',
    link: MANAGER,
    section: 'your-own-number',
  },
  sent_too_late: {
    state: 'failed',
    sentence: 'The message to {to} failed: that phone has not written to the number within 24 hours ({text})',
    remedy: 'Write "hello" from that phone to the number, then connect again',
    link: TEMPLATES,
    section: '6-receive-and-send',
  },
  sent_unreachable: {
    state: 'failed',
    sentence: 'The message to {to} cannot be delivered ({text})',
    remedy: 'Check that this number uses WhatsApp, in a version that is not too old',
    link: ERRORS,
  },
  sent_forbidden: {
    state: 'failed',
    sentence: 'The access token may not send the message to {to} ({text})',
    remedy: 'Assign the WhatsApp account to the system user, and generate the token again with both permissions',
    link: SETTINGS,
    section: 'the-token',
  },
  sent_refused: {
    state: 'failed',
    sentence: 'The message to {to} failed ({text})',
    remedy: 'Look for the code in the docs and in the list of WhatsApp',
    link: ERRORS,
  },
  sent_unanswered: {
    state: 'failed',
    sentence: 'WhatsApp did not accept the message to {to} ({text})',
    remedy: TRY_AGAIN,
  },
} as const satisfies Reasons
