import { APPS, OVERRIDES } from './pages.js'
import type { Reasons } from './reason.js'
import { TRY_AGAIN } from './remedies.js'

/** What is found of the app's callback URL. */
export const CALLBACKS_REASONS = {
  callbacks_right: {
    state: 'ok',
    sentence: 'The app calls {url} for messages and template statuses',
  },
  callbacks_set: {
    state: 'ok',
    sentence: 'The app now calls {url} for messages and template statuses',
  },
  verify_token_new: {
    state: 'ok',
    sentence: 'The verify token is a new one: to enter the callback URL by hand, set one here first (verify_token)',
  },
  callbacks_overridden: {
    state: 'warning',
    sentence: 'Messages come here by an override, but the app itself calls {url}, and so reports on templates go there',
    remedy: 'Fetch templates by hand after a change, or use an app of its own for Parley',
    link: OVERRIDES,
  },
  callbacks_left: {
    state: 'warning',
    sentence: 'The app calls {url}, and it was left so: only what the program there passes on arrives here',
    remedy: 'Have it pass the callbacks on unchanged, or connect again and choose another way',
    link: APPS,
    section: '4-connect',
  },
  callbacks_passed_on: {
    state: 'warning',
    sentence: 'The app calls another address, {url}, and callbacks come here: the last one at {at}',
    remedy: 'If no program there passes them on, connect the number again',
    link: APPS,
    section: 'staying-connected',
  },
  messages_not_ticked: {
    state: 'failed',
    sentence: 'The app, which calls {url}, is not subscribed to the field messages: an override directs nothing here',
    remedy: 'Tick the field messages in the App Dashboard, Use cases, Customize, Configuration',
    link: APPS,
  },
  callbacks_elsewhere: {
    state: 'choose',
    sentence: 'The app calls another address, {url}, and an app has only one',
    remedy: 'Choose where its callbacks go',
    link: APPS,
    section: '4-connect',
  },
  callbacks_foreign: {
    state: 'failed',
    sentence: 'The app calls another address, {url}: no message arrives here',
    remedy: 'Connect the number again',
    link: APPS,
  },
  callbacks_missing: {
    state: 'failed',
    sentence: 'The app has no callback URL: no message arrives',
    remedy: 'Connect the number again',
    link: APPS,
  },
  callbacks_lack_fields: {
    state: 'failed',
    sentence: 'The app is not subscribed to the field {fields}',
    remedy: 'Connect the number again',
    link: APPS,
  },
  callbacks_not_public: {
    state: 'failed',
    sentence: 'WhatsApp cannot call {url}: it needs an https address without a plus sign',
    remedy: 'Set PARLEY_PUBLIC_URL',
    section: '1-make-parley-reachable',
  },
  callbacks_unverified: {
    state: 'failed',
    sentence: 'WhatsApp called {url} to verify it, and got another answer than expected ({text})',
    remedy: 'Run parley doctor, and look through the reasons why callbacks do not come',
  },
  callbacks_refused: {
    state: 'failed',
    sentence: 'WhatsApp refused to show or set where the app calls ({text})',
    remedy: 'Set the callback URL by hand',
    link: APPS,
    section: 'by-hand',
  },
  callbacks_unavailable: {
    state: 'failed',
    sentence: 'WhatsApp could not be asked where the app calls ({text})',
    remedy: TRY_AGAIN,
  },
} as const satisfies Reasons
