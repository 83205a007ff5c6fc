import type { NoiseKind } from './noise.js'
import { broadcastNoises } from './noises/broadcasts.js'
import { callbackNoises } from './noises/callbacks.js'
import { contactNoises } from './noises/contacts.js'
import { historyNoises } from './noises/histories.js'
import { requestNoises } from './noises/requests.js'
import { scheduledNoises } from './noises/scheduled.js'
import { syncNoises } from './noises/syncs.js'
import { webhookNoises } from './noises/webhooks.js'

/** Every kind of noise. */
export const NOISES: readonly NoiseKind[] = [
  ...callbackNoises,
  ...broadcastNoises,
  ...contactNoises,
  ...historyNoises,
  ...requestNoises,
  ...scheduledNoises,
  ...syncNoises,
  ...webhookNoises,
]

/** The kind of noise of this name. Throws if there is none. */
export function findNoise(name: string): NoiseKind {
  const kind = NOISES.find((one) => one.name === name)
  if (kind === undefined) throw new Error(`no noise is called ${name}: expected ${NOISES.map(({ name }) => name)}`)
  return kind
}
