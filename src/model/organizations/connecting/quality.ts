import { MANAGER } from './pages.js'
import type { Reasons } from './reason.js'

/** What is found of the quality. */
export const QUALITY_REASONS = {
  quality_good: { state: 'ok', sentence: 'The quality is {quality}' },
  quality_low: {
    state: 'warning',
    sentence: 'The quality is {quality}: people block or report the messages',
    remedy: 'Send less marketing, and only to people who want it',
    link: MANAGER,
  },
} as const satisfies Reasons
