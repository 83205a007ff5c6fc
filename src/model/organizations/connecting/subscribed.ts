import { OVERRIDES, SETTINGS } from './pages.js'
import type { Reasons } from './reason.js'
import { TRY_AGAIN } from './remedies.js'

/** What is found of the subscription to the business account, and of overrides. */
export const SUBSCRIBED_REASONS = {
  subscribed_right: {
    state: 'ok',
    sentence: 'The app gets the callbacks of the business account {account}',
  },
  subscribed_now: {
    state: 'ok',
    sentence: 'The app now gets the callbacks of the business account {account}',
  },
  override_set: {
    state: 'ok',
    sentence: 'The messages of the {whose} now come to {url}',
  },
  override_elsewhere: {
    state: 'choose',
    sentence: 'An override directs the callbacks of the {whose} to {url}',
    remedy: 'Choose whether they are to come here',
    link: OVERRIDES,
    section: '4-connect',
  },
  override_left: {
    state: 'warning',
    sentence: 'An override directs the callbacks of the {whose} to {url}, and it was left so',
    remedy: 'Connect again and choose another way',
    link: OVERRIDES,
    section: '4-connect',
  },
  override_foreign: {
    state: 'failed',
    sentence: 'An override directs the callbacks of the {whose} to {url}: no message arrives here',
    remedy: 'Connect the number again',
    link: OVERRIDES,
  },
  override_passed_on: {
    state: 'warning',
    sentence:
      'An override directs the callbacks of the {whose} to {url}, and callbacks come here: the last one at {at}',
    remedy: 'If no program there passes them on, connect the number again',
    link: OVERRIDES,
    section: 'staying-connected',
  },
  override_unread: {
    state: 'warning',
    sentence:
      'The app gets the callbacks, but WhatsApp does not say whether an override directs those of the number elsewhere',
    remedy: 'If no message arrives, connect the number again and let its messages come here',
    link: OVERRIDES,
  },
  override_unverified: {
    state: 'failed',
    sentence: 'WhatsApp called {url} to verify it, and got another answer than expected ({text})',
    remedy: 'Run parley doctor, and look through the reasons why callbacks do not come',
  },
  override_refused: {
    state: 'failed',
    sentence: 'WhatsApp does not let the address of this number be changed ({text})',
    remedy: "Use the app's own callback URL: connect again and choose it",
    link: OVERRIDES,
  },
  not_subscribed: {
    state: 'failed',
    sentence: 'The app is not subscribed to the business account {account}: no message arrives',
    remedy: 'Connect the number again',
  },
  subscribed_refused: {
    state: 'failed',
    sentence: 'WhatsApp refused the subscription to the business account {account} ({text})',
    remedy: 'Check the id of the business account, and that the system user manages it',
    link: SETTINGS,
  },
  subscribed_unavailable: {
    state: 'failed',
    sentence: 'WhatsApp could not be asked about the subscription ({text})',
    remedy: TRY_AGAIN,
  },
} as const satisfies Reasons
