import { APPS, SETTINGS } from './pages.js'
import type { Reasons } from './reason.js'
import { TRY_AGAIN } from './remedies.js'

const LASTING_TOKEN = 'Generate a token of a system user that never expires'

/** What is found of the access token. */
export const TOKEN_REASONS = {
  token_lasting: {
    state: 'ok',
    sentence: 'The access token is valid and does not end; it belongs to the app {app}',
  },
  token_valid: {
    state: 'ok',
    sentence: 'The access token is valid until {until}; it belongs to the app {app}',
  },
  token_ending: {
    state: 'warning',
    sentence: 'The access token ends at {until}; then nothing can be sent',
    remedy: LASTING_TOKEN,
    link: SETTINGS,
    section: '3-create-a-token-that-lasts',
  },
  token_of_person: {
    state: 'warning',
    sentence: 'The access token belongs to a person, and ends when that person changes the password or leaves',
    remedy: LASTING_TOKEN,
    link: SETTINGS,
    section: '3-create-a-token-that-lasts',
  },
  data_access_ending: {
    state: 'warning',
    sentence: "The access token's access to data ends at {until}",
    remedy: LASTING_TOKEN,
    link: SETTINGS,
    section: '3-create-a-token-that-lasts',
  },
  token_unread: {
    state: 'warning',
    sentence: 'The access token works, but WhatsApp does not say what it may do ({text})',
    remedy: 'If a later step fails, generate the token again with both WhatsApp permissions',
    link: SETTINGS,
  },
  token_refused: {
    state: 'failed',
    sentence: 'WhatsApp refused the access token ({text})',
    remedy: `Give a valid one, copied whole. ${LASTING_TOKEN}`,
    link: SETTINGS,
  },
  token_lacks: {
    state: 'failed',
    sentence: 'The access token lacks the permission {permissions}',
    remedy: 'Generate it again, with whatsapp_business_messaging and whatsapp_business_management',
    link: SETTINGS,
  },
  token_needs_proof: {
    state: 'failed',
    sentence: 'The app accepts only calls that prove its secret ({text})',
    remedy: 'Copy it from the App Dashboard, App settings, Basic, App secret',
    link: APPS,
  },
  token_unavailable: {
    state: 'failed',
    sentence: 'WhatsApp could not be asked about the access token ({text})',
    remedy: TRY_AGAIN,
  },
} as const satisfies Reasons
