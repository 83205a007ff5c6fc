import type { Instance } from '../types.js'

// docs/linked-devices.md, How a session ends and comes back.
const REASONS = {
  401: 'unlinked',
  402: 'suspended',
  403: 'suspended',
  405: 'oldLibrary',
  406: 'suspended',
  408: 'notScanned',
  428: 'notScanned',
  440: 'elsewhere',
  500: 'refused',
} as const

type Reason = (typeof REASONS)[keyof typeof REASONS]

/** Why an instance is closed, where its code tells; null of one that is not, or was not open yet. */
export function closeReason({ state, state_code: code }: Pick<Instance, 'state' | 'state_code'>): Reason | null {
  if (state !== 'close' || code === null) return null
  return Object.hasOwn(REASONS, code) ? REASONS[code as keyof typeof REASONS] : null
}
