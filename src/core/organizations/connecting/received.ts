import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import type { LastCallbacks } from '../../../storage/numbers/number-states.js'
import { found } from './findings.js'

/** When the last callback of a number came; `number` is how it is written, for the one who is to write to it. */
export function judgeReceived({ last_callback_at, last_sample_at }: LastCallbacks, number: string): StepFinding {
  if (last_callback_at !== null) return found('received_lately', { at: last_callback_at.toISOString() })
  return last_sample_at === null
    ? found('received_never', { number })
    : found('received_sample', { number, at: last_sample_at.toISOString() })
}
