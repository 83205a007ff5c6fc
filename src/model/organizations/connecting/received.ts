import { APPS, PHONES } from './pages.js'
import type { Reasons } from './reason.js'

/** What is found of callbacks that came, and of what a phone has. */
export const RECEIVED_REASONS = {
  phone_data_asked: {
    state: 'ok',
    sentence: 'WhatsApp was asked for the contacts and the history of the phone ({ids})',
  },
  phone_data_refused: {
    state: 'warning',
    sentence: 'WhatsApp does not give the contacts or the history of the phone ({text})',
    remedy:
      'They can be asked for once, within 24 hours after the number was connected. To ask again, disconnect the number in the app, and connect it again',
    link: PHONES,
    section: '4-connect',
  },
  phone_data_unavailable: {
    state: 'warning',
    sentence: 'WhatsApp could not be asked for the contacts and the history of the phone ({text})',
    remedy: 'Connect again within 24 hours',
    section: '4-connect',
  },
  received_lately: { state: 'ok', sentence: 'The last callback came at {at}' },
  received_not: {
    state: 'warning',
    sentence: 'A message was sent at {at}, and no callback has come since',
    remedy: 'Look through the reasons why callbacks do not come',
  },
  received_sample: {
    state: 'warning',
    sentence:
      'The sample of the App Dashboard came at {at}: the address and the app secret are right. No message has come yet',
    remedy: 'Publish the app, and write "hello" from your phone to {number}',
    link: APPS,
    section: '5-publish-the-app',
  },
  received_never: {
    state: 'warning',
    sentence: 'No callback has come yet',
    remedy: 'Write "hello" from your phone to {number}',
  },
} as const satisfies Reasons
