import type { StepFinding } from '../../../model/organizations/connection-steps.js'
import { found } from './findings.js'

/** When the last callback of a number came; `number` is how it is written, for the one who is to write to it. */
export function judgeReceived(lastCallbackAt: Date | null, number: string): StepFinding {
  return lastCallbackAt === null
    ? found('received_never', { number })
    : found('received_lately', { at: lastCallbackAt.toISOString() })
}
