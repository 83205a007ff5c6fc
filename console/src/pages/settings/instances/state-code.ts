import type { Instance } from '../types.js'

// The codes are described in docs/linked-devices.md.
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

/** The key of the text that says why an instance is disconnected. Null if it is connected or its code says nothing. */
export function closeReason({ state, state_code: code }: Pick<Instance, 'state' | 'state_code'>): Reason | null {
  if (state !== 'close' || code === null) return null
  return Object.hasOwn(REASONS, code) ? REASONS[code as keyof typeof REASONS] : null
}
