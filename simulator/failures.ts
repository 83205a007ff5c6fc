import { fixedCallbackError, fixedRefusal } from './errors.js'
import { type AcceptedOutcome, ordinaryOutcome, type SimulatedOutcome } from './magic.js'

/** How a failure is told: in the answer to the send, or by a status after the send was accepted. */
export const failureWays = ['answer', 'status'] as const

/** What every send to a recipient comes to. */
export interface Failure {
  /** One of those with fixed texts. */
  code: number
  by: (typeof failureWays)[number]
}

/** The recipients that were told to fail, by network id or user id. */
export type Failures = Map<string, Failure>

export function failureOutcome({ code, by }: Failure): SimulatedOutcome {
  if (by === 'answer') return { kind: 'refused', refusal: fixedRefusal(code) }
  return { ...ordinaryOutcome, failure: fixedCallbackError(code) } satisfies AcceptedOutcome
}
