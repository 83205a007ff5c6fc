import { MANAGER } from './pages.js'
import type { Reasons } from './reason.js'

/** What is found of the display name. */
export const NAME_REASONS = {
  name_approved: { state: 'ok', sentence: 'The display name is {name}' },
  name_in_review: {
    state: 'warning',
    sentence: 'The display name is in review: until it is approved, people see the number',
    remedy: 'Wait for the review',
    link: MANAGER,
  },
  name_declined: {
    state: 'warning',
    sentence: 'The display name was declined',
    remedy: 'Choose another one in WhatsApp Manager, Phone numbers',
    link: MANAGER,
  },
  new_name_in_review: {
    state: 'warning',
    sentence: 'A new display name is in review; until it is approved, people see {name}',
    remedy: 'Wait for the review',
    link: MANAGER,
  },
  new_name_declined: {
    state: 'warning',
    sentence: 'A new display name was declined; people see {name}',
    remedy: 'Choose another one in WhatsApp Manager, Phone numbers',
    link: MANAGER,
  },
  name_other: {
    state: 'warning',
    sentence: 'The state of the display name is {status}',
    remedy: 'Look at it in WhatsApp Manager, Phone numbers',
    link: MANAGER,
  },
} as const satisfies Reasons
