/** The steps of connecting a number, in the order in which they are shown. */
export const CONNECTION_STEPS = [
  ...(['token', 'app_secret', 'number', 'callbacks', 'subscribed', 'registered', 'name', 'quality'] as const),
  ...(['health', 'sent', 'received'] as const),
] as const

export type ConnectionStepName = (typeof CONNECTION_STEPS)[number]

/** How a step ended. `choose`: the caller has to decide something, and then call again. */
export type StepState = 'ok' | 'warning' | 'failed' | 'choose'

interface Reason {
  step: ConnectionStepName
  state: StepState
  /** `{name}` stands for a value. */
  sentence: string
  /** What to do; ok needs nothing. */
  remedy?: string
  /** The upstream's page where it is done. */
  link?: string
}

const APPS = 'https://developers.facebook.com/apps'
const SETTINGS = 'https://business.facebook.com/latest/settings'
const MANAGER = 'https://business.facebook.com/latest/whatsapp_manager/'
const SUPPORT = 'https://business.facebook.com/business-support-home'
const NUMBERS = 'https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers'
const REGISTRATION = `${NUMBERS}/registration`
const OVERRIDES = 'https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/override'
const ERRORS = 'https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes'
const TEMPLATES = 'https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/send-messages'
const PHONES =
  'https://developers.facebook.com/documentation/business-messaging/whatsapp/embedded-signup/onboarding-business-app-users'
const LASTING_TOKEN =
  'Generate a token of a system user that never expires (docs/connect-a-number.md#3-create-a-token-that-lasts)'
const TRY_AGAIN = 'Try again in a few minutes'

/**
 * Everything that connecting a number, or checking it, can find. The page has the same texts in its other languages
 * (console/src/i18n/connecting).
 */
export const CONNECTION_REASONS = {
  token_lasting: {
    step: 'token',
    state: 'ok',
    sentence: 'The access token is valid and does not end; it belongs to the app {app}',
  },
  token_valid: {
    step: 'token',
    state: 'ok',
    sentence: 'The access token is valid until {until}; it belongs to the app {app}',
  },
  token_ending: {
    step: 'token',
    state: 'warning',
    sentence: 'The access token ends at {until}; then nothing can be sent',
    remedy: LASTING_TOKEN,
    link: SETTINGS,
  },
  token_of_person: {
    step: 'token',
    state: 'warning',
    sentence: 'The access token belongs to a person, and ends when that person changes the password or leaves',
    remedy: LASTING_TOKEN,
    link: SETTINGS,
  },
  data_access_ending: {
    step: 'token',
    state: 'warning',
    sentence: "The access token's access to data ends at {until}",
    remedy: LASTING_TOKEN,
    link: SETTINGS,
  },
  token_unread: {
    step: 'token',
    state: 'warning',
    sentence: 'The access token works, but WhatsApp does not say what it may do ({text})',
    remedy: 'If a later step fails, generate the token again with both WhatsApp permissions',
    link: SETTINGS,
  },
  token_refused: {
    step: 'token',
    state: 'failed',
    sentence: 'WhatsApp refused the access token ({text})',
    remedy: `Give a valid one, copied whole. ${LASTING_TOKEN}`,
    link: SETTINGS,
  },
  token_lacks: {
    step: 'token',
    state: 'failed',
    sentence: 'The access token lacks the permission {permissions}',
    remedy: 'Generate it again, with whatsapp_business_messaging and whatsapp_business_management',
    link: SETTINGS,
  },
  token_needs_proof: {
    step: 'token',
    state: 'failed',
    sentence: 'The app accepts only calls that prove its secret ({text})',
    remedy: 'Copy it from the App Dashboard, App settings, Basic, App secret',
    link: APPS,
  },
  token_unavailable: {
    step: 'token',
    state: 'failed',
    sentence: 'WhatsApp could not be asked about the access token ({text})',
    remedy: TRY_AGAIN,
  },
  secret_fits: { step: 'app_secret', state: 'ok', sentence: 'The app secret is that of the app' },
  secret_missing: {
    step: 'app_secret',
    state: 'choose',
    sentence: 'The app secret is needed: without it, no callback can be trusted',
    remedy: 'Copy it from the App Dashboard, App settings, Basic, App secret',
    link: APPS,
  },
  secret_wrong: {
    step: 'app_secret',
    state: 'failed',
    sentence: 'The app secret is not that of the app of the access token ({text})',
    remedy: 'Copy it again from the app {app}: App settings, Basic, App secret',
    link: APPS,
  },
  secret_unavailable: {
    step: 'app_secret',
    state: 'failed',
    sentence: 'WhatsApp could not be asked about the app secret ({text})',
    remedy: TRY_AGAIN,
  },
  number_found: { step: 'number', state: 'ok', sentence: '{number}, {name}, in the business account {account}' },
  test_number: {
    step: 'number',
    state: 'warning',
    sentence: '{number} is a test number: it writes only to the recipients of its list, at most five',
    remedy:
      'Add your phone to the list in the App Dashboard, or add a number of your own (docs/connect-a-number.md#your-own-number)',
    link: APPS,
  },
  number_choice: {
    step: 'number',
    state: 'choose',
    sentence: 'The access token reaches {count} numbers',
    remedy: 'Choose one',
  },
  number_other: {
    step: 'number',
    state: 'choose',
    sentence: 'The access token does not reach the connected number {connected}; it reaches {count} others',
    remedy: 'Give a token that reaches it, or choose the one that is to take its place',
  },
  account_unknown: {
    step: 'number',
    state: 'choose',
    sentence: 'WhatsApp names no business account that the access token opens',
    remedy:
      'Assign the WhatsApp account and the app to the system user and generate the token again, or give the id of the business account',
    link: SETTINGS,
  },
  no_number: {
    step: 'number',
    state: 'failed',
    sentence: 'The business account {accounts} has no number',
    remedy: 'Add one in WhatsApp Manager (docs/connect-a-number.md#your-own-number)',
    link: MANAGER,
  },
  number_unreached: {
    step: 'number',
    state: 'failed',
    sentence: 'The access token reaches no number {number} in the business account {accounts}',
    remedy: 'Give the phone number id, not the number itself, and assign its WhatsApp account to the system user',
    link: SETTINGS,
  },
  account_refused: {
    step: 'number',
    state: 'failed',
    sentence: 'The access token does not open the business account {accounts} ({text})',
    remedy:
      'Check that it is the id of the WhatsApp account and not of the portfolio, and assign the account to the system user',
    link: SETTINGS,
  },
  number_refused: {
    step: 'number',
    state: 'failed',
    sentence: 'The access token does not open the number {number} ({text})',
    remedy: 'Assign its WhatsApp account to the system user and generate the token again',
    link: SETTINGS,
  },
  number_unavailable: {
    step: 'number',
    state: 'failed',
    sentence: 'WhatsApp could not be asked about the number ({text})',
    remedy: TRY_AGAIN,
  },
  callbacks_right: {
    step: 'callbacks',
    state: 'ok',
    sentence: 'The app calls {url} for messages and template statuses',
  },
  callbacks_set: {
    step: 'callbacks',
    state: 'ok',
    sentence: 'The app now calls {url} for messages and template statuses',
  },
  verify_token_new: {
    step: 'callbacks',
    state: 'ok',
    sentence: 'The verify token is a new one: to enter the callback URL by hand, set one here first (verify_token)',
  },
  callbacks_overridden: {
    step: 'callbacks',
    state: 'warning',
    sentence: 'Messages come here by an override, but the app itself calls {url}, and so reports on templates go there',
    remedy: 'Fetch templates by hand after a change, or use an app of its own for Parley',
    link: OVERRIDES,
  },
  callbacks_left: {
    step: 'callbacks',
    state: 'warning',
    sentence: 'The app calls {url}, and it was left so: only what the program there passes on arrives here',
    remedy: 'Have it pass the callbacks on unchanged, or connect again and choose another way',
    link: APPS,
  },
  callbacks_passed_on: {
    step: 'callbacks',
    state: 'warning',
    sentence: 'The app calls another address, {url}, and callbacks come here: the last one at {at}',
    remedy: 'If no program there passes them on, connect the number again',
    link: APPS,
  },
  messages_not_ticked: {
    step: 'callbacks',
    state: 'failed',
    sentence: 'The app, which calls {url}, is not subscribed to the field messages: an override directs nothing here',
    remedy: 'Tick the field messages in the App Dashboard, Use cases, Customize, Configuration',
    link: APPS,
  },
  callbacks_elsewhere: {
    step: 'callbacks',
    state: 'choose',
    sentence: 'The app calls another address, {url}, and an app has only one',
    remedy: 'Choose where its callbacks go',
    link: APPS,
  },
  callbacks_foreign: {
    step: 'callbacks',
    state: 'failed',
    sentence: 'The app calls another address, {url}: no message arrives here',
    remedy: 'Connect the number again',
    link: APPS,
  },
  callbacks_missing: {
    step: 'callbacks',
    state: 'failed',
    sentence: 'The app has no callback URL: no message arrives',
    remedy: 'Connect the number again',
    link: APPS,
  },
  callbacks_lack_fields: {
    step: 'callbacks',
    state: 'failed',
    sentence: 'The app is not subscribed to the field {fields}',
    remedy: 'Connect the number again',
    link: APPS,
  },
  callbacks_not_public: {
    step: 'callbacks',
    state: 'failed',
    sentence: 'WhatsApp cannot call {url}: it needs an https address without a plus sign',
    remedy: 'Set PARLEY_PUBLIC_URL (docs/connect-a-number.md#1-make-parley-reachable)',
  },
  callbacks_unverified: {
    step: 'callbacks',
    state: 'failed',
    sentence: 'WhatsApp called {url} to verify it, and got another answer than expected ({text})',
    remedy: 'Run parley doctor, and see docs/connect-a-number.md#callbacks-do-not-come',
  },
  callbacks_refused: {
    step: 'callbacks',
    state: 'failed',
    sentence: 'WhatsApp refused to show or set where the app calls ({text})',
    remedy: 'Set the callback URL by hand (docs/connect-a-number.md#by-hand)',
    link: APPS,
  },
  callbacks_unavailable: {
    step: 'callbacks',
    state: 'failed',
    sentence: 'WhatsApp could not be asked where the app calls ({text})',
    remedy: TRY_AGAIN,
  },
  subscribed_right: {
    step: 'subscribed',
    state: 'ok',
    sentence: 'The app gets the callbacks of the business account {account}',
  },
  subscribed_now: {
    step: 'subscribed',
    state: 'ok',
    sentence: 'The app now gets the callbacks of the business account {account}',
  },
  override_set: {
    step: 'subscribed',
    state: 'ok',
    sentence: 'The messages of the {whose} now come to {url}',
  },
  override_elsewhere: {
    step: 'subscribed',
    state: 'choose',
    sentence: 'An override directs the callbacks of the {whose} to {url}',
    remedy: 'Choose whether they are to come here',
    link: OVERRIDES,
  },
  override_left: {
    step: 'subscribed',
    state: 'warning',
    sentence: 'An override directs the callbacks of the {whose} to {url}, and it was left so',
    remedy: 'Connect again and choose another way',
    link: OVERRIDES,
  },
  override_foreign: {
    step: 'subscribed',
    state: 'failed',
    sentence: 'An override directs the callbacks of the {whose} to {url}: no message arrives here',
    remedy: 'Connect the number again',
    link: OVERRIDES,
  },
  override_passed_on: {
    step: 'subscribed',
    state: 'warning',
    sentence:
      'An override directs the callbacks of the {whose} to {url}, and callbacks come here: the last one at {at}',
    remedy: 'If no program there passes them on, connect the number again',
    link: OVERRIDES,
  },
  override_unread: {
    step: 'subscribed',
    state: 'warning',
    sentence:
      'The app gets the callbacks, but WhatsApp does not say whether an override directs those of the number elsewhere',
    remedy: 'If no message arrives, connect the number again and let its messages come here',
    link: OVERRIDES,
  },
  override_unverified: {
    step: 'subscribed',
    state: 'failed',
    sentence: 'WhatsApp called {url} to verify it, and got another answer than expected ({text})',
    remedy: 'Run parley doctor, and see docs/connect-a-number.md#callbacks-do-not-come',
  },
  override_refused: {
    step: 'subscribed',
    state: 'failed',
    sentence: 'WhatsApp does not let the address of this number be changed ({text})',
    remedy: "Use the app's own callback URL: connect again and choose it",
    link: OVERRIDES,
  },
  not_subscribed: {
    step: 'subscribed',
    state: 'failed',
    sentence: 'The app is not subscribed to the business account {account}: no message arrives',
    remedy: 'Connect the number again',
  },
  subscribed_refused: {
    step: 'subscribed',
    state: 'failed',
    sentence: 'WhatsApp refused the subscription to the business account {account} ({text})',
    remedy: 'Check the id of the business account, and that the system user manages it',
    link: SETTINGS,
  },
  subscribed_unavailable: {
    step: 'subscribed',
    state: 'failed',
    sentence: 'WhatsApp could not be asked about the subscription ({text})',
    remedy: TRY_AGAIN,
  },
  registered_right: { step: 'registered', state: 'ok', sentence: 'The number is registered ({status})' },
  registered_now: {
    step: 'registered',
    state: 'ok',
    sentence: 'The number is registered now. Note the PIN: it is not stored here',
  },
  registered_unread: {
    step: 'registered',
    state: 'warning',
    sentence: 'WhatsApp does not say whether the number is registered',
    remedy: 'If sends fail with 133010, register it by hand (docs/connect-a-number.md#by-hand)',
    link: REGISTRATION,
  },
  number_restricted: {
    step: 'registered',
    state: 'warning',
    sentence:
      'The number has reached its limit of 24 hours (RESTRICTED): it receives and answers, and begins no conversation',
    remedy: 'Wait until the limit counts again from the beginning',
    link: MANAGER,
  },
  number_banned: {
    step: 'registered',
    state: 'failed',
    sentence: 'WhatsApp has banned the number: it can neither send nor receive',
    remedy: 'Ask for a review in Business support home',
    link: SUPPORT,
  },
  pin_missing: {
    step: 'registered',
    state: 'choose',
    sentence: 'The number is not registered ({status})',
    remedy:
      'Give a PIN of six digits: a new one, which you note, or the one of its two-step verification if that is on',
    link: REGISTRATION,
  },
  name_needs_registration: {
    step: 'registered',
    state: 'warning',
    sentence: 'A new display name was approved, and shows when the number is registered again',
    remedy: 'Give the PIN of its two-step verification within 14 days; after that the name is reviewed again',
    link: REGISTRATION,
  },
  not_registered: {
    step: 'registered',
    state: 'failed',
    sentence: 'The number is not registered ({status}): it can neither send nor receive',
    remedy: 'Connect the number again, and give a PIN',
    link: REGISTRATION,
  },
  pin_wrong: {
    step: 'registered',
    state: 'failed',
    sentence: 'The number has another PIN ({text})',
    remedy: 'Change it in WhatsApp Manager, Phone numbers, Two-step verification; do not guess',
    link: MANAGER,
  },
  pin_blocked: {
    step: 'registered',
    state: 'failed',
    sentence: 'Too many PINs were tried ({text})',
    remedy: 'Wait as long as it says, then give the right PIN',
    link: MANAGER,
  },
  number_unverified: {
    step: 'registered',
    state: 'failed',
    sentence: 'The number must be verified again before it can be registered ({text})',
    remedy: 'Turn two-step verification off in WhatsApp Manager, verify the number by SMS, then connect again',
    link: MANAGER,
  },
  registration_blocked: {
    step: 'registered',
    state: 'failed',
    sentence: 'The number was registered ten times in 72 hours, and is blocked for 72 hours ({text})',
    remedy: 'Wait, then connect again once',
    link: REGISTRATION,
  },
  registration_too_soon: {
    step: 'registered',
    state: 'failed',
    sentence: 'The number was deleted in the app a moment ago ({text})',
    remedy: 'Wait five minutes, then connect again',
    link: REGISTRATION,
  },
  registration_needs_name: {
    step: 'registered',
    state: 'failed',
    sentence: 'The display name is still in review, and so the number cannot be registered ({text})',
    remedy: 'Wait for the name, or change it in WhatsApp Manager, then connect again',
    link: MANAGER,
  },
  registration_refused: {
    step: 'registered',
    state: 'failed',
    sentence: 'WhatsApp refused to register the number ({text})',
    remedy: 'See docs/connect-a-number.md#registration',
    link: REGISTRATION,
  },
  registration_unavailable: {
    step: 'registered',
    state: 'failed',
    sentence: 'WhatsApp did not answer to the registration ({text})',
    remedy: 'Connect again: if the number is registered, the PIN is not asked for',
  },
  name_approved: { step: 'name', state: 'ok', sentence: 'The display name is {name}' },
  name_in_review: {
    step: 'name',
    state: 'warning',
    sentence: 'The display name is in review: until it is approved, people see the number',
    remedy: 'Wait for the review',
    link: MANAGER,
  },
  name_declined: {
    step: 'name',
    state: 'warning',
    sentence: 'The display name was declined',
    remedy: 'Choose another one in WhatsApp Manager, Phone numbers',
    link: MANAGER,
  },
  new_name_in_review: {
    step: 'name',
    state: 'warning',
    sentence: 'A new display name is in review; until it is approved, people see {name}',
    remedy: 'Wait for the review',
    link: MANAGER,
  },
  new_name_declined: {
    step: 'name',
    state: 'warning',
    sentence: 'A new display name was declined; people see {name}',
    remedy: 'Choose another one in WhatsApp Manager, Phone numbers',
    link: MANAGER,
  },
  name_other: {
    step: 'name',
    state: 'warning',
    sentence: 'The state of the display name is {status}',
    remedy: 'Look at it in WhatsApp Manager, Phone numbers',
    link: MANAGER,
  },
  quality_good: { step: 'quality', state: 'ok', sentence: 'The quality is {quality}' },
  quality_low: {
    step: 'quality',
    state: 'warning',
    sentence: 'The quality is {quality}: people block or report the messages',
    remedy: 'Send less marketing, and only to people who want it',
    link: MANAGER,
  },
  health_good: { step: 'health', state: 'ok', sentence: 'The number can send' },
  health_limited: {
    step: 'health',
    state: 'warning',
    sentence: 'Sending is limited: {why}',
    remedy: 'Do what it says in WhatsApp Manager',
    link: MANAGER,
  },
  health_blocked: {
    step: 'health',
    state: 'failed',
    sentence: 'Sending is blocked: {why}',
    remedy: 'Do what it says in WhatsApp Manager (docs/connect-a-number.md#your-own-number)',
    link: MANAGER,
  },
  sent_delivered: { step: 'sent', state: 'ok', sentence: 'A message to {to} was delivered' },
  sent_underway: {
    step: 'sent',
    state: 'warning',
    sentence: 'WhatsApp has sent a message to {to}, and it has not arrived at the phone yet',
    remedy: 'Look at the phone: it may be off, or without a connection',
  },
  sent_unreported: {
    step: 'sent',
    state: 'warning',
    sentence: 'WhatsApp accepted a message to {to}, and no callback has told what came of it',
    remedy: 'Look at the phone. If the message is there: docs/connect-a-number.md#callbacks-do-not-come',
    link: APPS,
  },
  sent_not_yet: {
    step: 'sent',
    state: 'warning',
    sentence: 'No message was sent to {to}: something before is not done yet',
    remedy: 'Do what it says there, then connect again',
  },
  sent_not_listed: {
    step: 'sent',
    state: 'failed',
    sentence: "{to} is not in the test number's list of recipients ({text})",
    remedy:
      'Add it in the App Dashboard, Use cases, Customize, API setup, in both forms if the country has two, such as with and without the 9',
    link: APPS,
  },
  sent_unregistered: {
    step: 'sent',
    state: 'failed',
    sentence: 'The message to {to} was refused: the number is not registered ({text})',
    remedy: 'Connect again, and give a PIN',
    link: REGISTRATION,
  },
  sent_unpaid: {
    step: 'sent',
    state: 'failed',
    sentence: 'The message to {to} failed: the business account has no valid payment method ({text})',
    remedy: 'Add one to the business account itself, in WhatsApp Manager, Billing & payments',
    link: MANAGER,
  },
  sent_locked: {
    step: 'sent',
    state: 'failed',
    sentence: 'The message to {to} was refused: the business account is restricted ({text})',
    remedy: 'Ask for a review in Business support home',
    link: SUPPORT,
  },
  sent_unnamed: {
    step: 'sent',
    state: 'failed',
    sentence: 'The message to {to} was refused: the display name is not approved ({text})',
    remedy: 'Wait for the review, or choose another name in WhatsApp Manager, Phone numbers',
    link: MANAGER,
  },
  sent_too_late: {
    step: 'sent',
    state: 'failed',
    sentence: 'The message to {to} failed: that phone has not written to the number within 24 hours ({text})',
    remedy: 'Write "hello" from that phone to the number, then connect again',
    link: TEMPLATES,
  },
  sent_unreachable: {
    step: 'sent',
    state: 'failed',
    sentence: 'The message to {to} cannot be delivered ({text})',
    remedy: 'Check that this number uses WhatsApp, in a version that is not too old',
    link: ERRORS,
  },
  sent_forbidden: {
    step: 'sent',
    state: 'failed',
    sentence: 'The access token may not send the message to {to} ({text})',
    remedy: 'Assign the WhatsApp account to the system user, and generate the token again with both permissions',
    link: SETTINGS,
  },
  sent_refused: {
    step: 'sent',
    state: 'failed',
    sentence: 'The message to {to} failed ({text})',
    remedy: 'See docs/connect-a-number.md#sending, and the code in the list of WhatsApp',
    link: ERRORS,
  },
  sent_unanswered: {
    step: 'sent',
    state: 'failed',
    sentence: 'WhatsApp did not accept the message to {to} ({text})',
    remedy: TRY_AGAIN,
  },
  phone_data_asked: {
    step: 'received',
    state: 'ok',
    sentence: 'WhatsApp was asked for the contacts and the history of the phone ({ids})',
  },
  phone_data_refused: {
    step: 'received',
    state: 'warning',
    sentence: 'WhatsApp does not give the contacts or the history of the phone ({text})',
    remedy:
      'They can be asked for once, within 24 hours after the number was connected. To ask again, disconnect the number in the app, and connect it again',
    link: PHONES,
  },
  phone_data_unavailable: {
    step: 'received',
    state: 'warning',
    sentence: 'WhatsApp could not be asked for the contacts and the history of the phone ({text})',
    remedy: 'Connect again within 24 hours',
  },
  received_lately: { step: 'received', state: 'ok', sentence: 'The last callback came at {at}' },
  received_not: {
    step: 'received',
    state: 'warning',
    sentence: 'A message was sent at {at}, and no callback has come since',
    remedy: 'See docs/connect-a-number.md#callbacks-do-not-come',
  },
  received_sample: {
    step: 'received',
    state: 'warning',
    sentence:
      'The sample of the App Dashboard came at {at}: the address and the app secret are right. No message has come yet',
    remedy:
      'Publish the app, and write "hello" from your phone to {number}. If nothing comes: docs/connect-a-number.md#callbacks-do-not-come',
    link: APPS,
  },
  received_never: {
    step: 'received',
    state: 'warning',
    sentence: 'No callback has come yet',
    remedy:
      'Write "hello" from your phone to {number}. If nothing comes: docs/connect-a-number.md#callbacks-do-not-come',
  },
} as const satisfies Record<string, Reason>

export type ConnectionReason = keyof typeof CONNECTION_REASONS

/** A value that the caller may give in `field`, with a text for people. */
export interface StepChoice {
  value: string
  label: string
}

/** What a step has found. */
export interface StepFinding {
  reason: ConnectionReason
  /** The values of its texts. */
  values?: Record<string, string | number>
  /** The upstream's error. */
  upstreamCode?: number
  upstreamSubcode?: number
  /** The field of the request that decides. */
  field?: string
  choices?: StepChoice[]
}

/** A finding as the API shows it. */
export interface ConnectionStep {
  step: ConnectionStepName
  state: StepState
  reason: ConnectionReason
  values: Record<string, string | number>
  sentence: string
  remedy: string | null
  link: string | null
  upstream_code?: number
  upstream_subcode?: number
  field?: string
  choices?: StepChoice[]
}

/** A finding with its texts in English. */
export function presentStep({ reason, values = {}, ...finding }: StepFinding): ConnectionStep {
  const { step, state, sentence, remedy, link } = reasonOf(reason)
  const { upstreamCode, upstreamSubcode, field, choices } = finding
  return {
    step,
    state,
    reason,
    values,
    sentence: fill(sentence, values),
    remedy: remedy === undefined ? null : fill(remedy, values),
    link: link ?? null,
    ...(upstreamCode === undefined ? {} : { upstream_code: upstreamCode }),
    ...(upstreamSubcode ? { upstream_subcode: upstreamSubcode } : {}),
    ...(field === undefined ? {} : { field }),
    ...(choices === undefined ? {} : { choices }),
  }
}

/** The state of a reason. */
export function stateOf({ reason }: Pick<StepFinding, 'reason'>): StepState {
  return reasonOf(reason).state
}

/** A later version may have stored a reason that this one does not know. */
function reasonOf(reason: string): Reason {
  return Object.hasOwn(CONNECTION_REASONS, reason)
    ? CONNECTION_REASONS[reason as ConnectionReason]
    : { step: 'health', state: 'warning', sentence: reason }
}

function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '–'))
}
