import { APPS } from './pages.js'
import type { Reasons } from './reason.js'
import { TRY_AGAIN } from './remedies.js'

/** What is found of the app secret. */
export const APP_SECRET_REASONS = {
  secret_fits: { state: 'ok', sentence: 'The app secret is that of the app' },
  secret_missing: {
    state: 'choose',
    sentence: 'The app secret is needed: without it, no callback can be trusted',
    remedy: 'Copy it from the App Dashboard, App settings, Basic, App secret',
    link: APPS,
  },
  secret_wrong: {
    state: 'failed',
    sentence: 'The app secret is not that of the app of the access token ({text})',
    remedy: 'Copy it again from the app {app}: App settings, Basic, App secret',
    link: APPS,
    section: 'callbacks-do-not-come',
  },
  secret_unavailable: {
    state: 'failed',
    sentence: 'WhatsApp could not be asked about the app secret ({text})',
    remedy: TRY_AGAIN,
  },
} as const satisfies Reasons
