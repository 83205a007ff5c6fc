import { asObject, type JsonObject } from '../../lib/text/json.js'

/** The `message_type` of a call in a conversation. */
export const CALL = 'call'

const OUTCOMES = ['missed', 'answered', 'rejected', 'failed'] as const
export type CallOutcome = (typeof OUTCOMES)[number]

/** A call that has ended, as its message stores it in `content`. */
export interface Call {
  /** `inbound`: the contact called. */
  direction: 'inbound' | 'outbound'
  /** `missed`: nobody of the organization answered; `rejected`, `failed`: the contact did not. */
  outcome: CallOutcome
  /** How long it was, if it was answered and the upstream says so. */
  seconds: number | null
}

const TEXTS: Record<Exclude<CallOutcome, 'answered'>, string> = {
  missed: 'Missed call',
  rejected: 'Call declined',
  failed: 'Call not answered',
}

/** The text of a call's message. */
export function describeCall({ outcome, seconds }: Call): string {
  if (outcome !== 'answered') return TEXTS[outcome]
  if (seconds === null) return 'Call'
  return `Call, ${callLength(seconds)}`
}

/** Minutes and seconds, such as `2:05`. */
function callLength(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** The call of a message's stored content; null if it is none. */
export function readCall(content: unknown): Call | null {
  const { direction, outcome, seconds }: JsonObject = asObject(content)
  const known = OUTCOMES.find((one) => one === outcome)
  if (known === undefined || (direction !== 'inbound' && direction !== 'outbound')) return null
  return { direction, outcome: known, seconds: typeof seconds === 'number' ? seconds : null }
}
