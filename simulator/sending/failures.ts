import { fixedCallbackError, fixedRefusal } from '../errors/refusals.js'
import { type AcceptedOutcome, ordinaryOutcome, type SimulatedOutcome } from '../magic.js'

/** How a failure is reported: in the response to the send, or by a later status. */
export const failureWays = ['answer', 'status'] as const

/** The failure of every send to a recipient. */
export interface Failure {
  /** One of `fixedCodes`. */
  code: number
  by: (typeof failureWays)[number]
}

/** The recipients set to fail, by network id or user id. */
export type Failures = Map<string, Failure>

export function failureOutcome({ code, by }: Failure): SimulatedOutcome {
  if (by === 'answer') return { kind: 'refused', refusal: fixedRefusal(code) }
  return { ...ordinaryOutcome, failure: fixedCallbackError(code) } satisfies AcceptedOutcome
}
