import { APPS, MANAGER, SETTINGS } from './pages.js'
import type { Reasons } from './reason.js'
import { TRY_AGAIN } from './remedies.js'

/** What is found when the number is looked for. */
export const NUMBER_REASONS = {
  number_found: { state: 'ok', sentence: '{number}, {name}, in the business account {account}' },
  test_number: {
    state: 'warning',
    sentence: '{number} is a test number: it writes only to the recipients of its list, at most five',
    remedy: 'Add your phone to the list in the App Dashboard, or add a number of your own',
    link: APPS,
    section: '2-create-the-app',
  },
  number_choice: {
    state: 'choose',
    sentence: 'The access token reaches {count} numbers',
    remedy: 'Choose one',
    section: '4-connect',
  },
  number_other: {
    state: 'choose',
    sentence: 'The access token does not reach the connected number {connected}; it reaches {count} others',
    remedy: 'Give a token that reaches it, or choose the one that is to take its place',
    section: '4-connect',
  },
  account_unknown: {
    state: 'choose',
    sentence: 'WhatsApp names no business account that the access token opens',
    remedy:
      'Assign the WhatsApp account and the app to the system user and generate the token again, or give the id of the business account',
    link: SETTINGS,
    section: '3-create-a-token-that-lasts',
  },
  no_number: {
    state: 'failed',
    sentence: 'The business account {accounts} has no number',
    remedy: 'Add one in WhatsApp Manager',
    link: MANAGER,
    section: 'your-own-number',
  },
  number_unreached: {
    state: 'failed',
    sentence: 'The access token reaches no number {number} in the business account {accounts}',
    remedy: 'Give the phone number id, not the number itself, and assign its WhatsApp account to the system user',
    link: SETTINGS,
  },
  account_refused: {
    state: 'failed',
    sentence: 'The access token does not open the business account {accounts} ({text})',
    remedy:
      'Check that it is the id of the WhatsApp account and not of the portfolio, and assign the account to the system user',
    link: SETTINGS,
  },
  number_refused: {
    state: 'failed',
    sentence: 'The access token does not open the number {number} ({text})',
    remedy: 'Assign its WhatsApp account to the system user and generate the token again',
    link: SETTINGS,
  },
  number_unavailable: {
    state: 'failed',
    sentence: 'WhatsApp could not be asked about the number ({text})',
    remedy: TRY_AGAIN,
  },
} as const satisfies Reasons
