import { MANAGER } from './pages.js'
import type { Reasons } from './reason.js'

/** What WhatsApp says of whether the number can send. */
export const HEALTH_REASONS = {
  health_good: { state: 'ok', sentence: 'The number can send' },
  health_limited: {
    state: 'warning',
    sentence: 'Sending is limited: {why}',
    remedy: 'Do what it says in WhatsApp Manager',
    link: MANAGER,
  },
  health_blocked: {
    state: 'failed',
    sentence: 'Sending is blocked: {why}',
    remedy: 'Do what it says in WhatsApp Manager',
    link: MANAGER,
    section: 'sending',
  },
} as const satisfies Reasons
