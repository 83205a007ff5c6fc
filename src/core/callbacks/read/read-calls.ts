import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import type { Call } from '../../../model/messages/call.js'
import { createSenderFinder, type NamedSender, readDigits, readId, readRecipientParent } from './read-sender.js'

/** A call that has ended, with the contact who called or was called. */
export interface ReportedCall {
  id: string
  person: NamedSender
  call: Call
  /** As it came. */
  timestamp: unknown
}

/** Longer calls are not believed. */
const MAX_SECONDS = 7 * 86_400

/**
 * Reads the calls that have ended, and those by the business that were declined. Other reports (it rings, recordings)
 * are not shown in conversations.
 */
export function readCalls(value: JsonObject, others: JsonObject[]): ReportedCall[] {
  const business = asText(asObject(value.metadata).display_phone_number)?.replace(/\D/g, '') ?? null
  const ended = asObjects(value.calls)
    .filter(({ event }) => event === 'terminate')
    .map((call) => withSender(call, business))
  const declined = asObjects(value.statuses)
    .filter(({ type, status }) => type === 'call' && status === 'REJECTED')
    .map((status) => ({
      ...status,
      from: status.recipient_id,
      from_user_id: status.recipient_user_id,
      from_parent_user_id: readRecipientParent(status),
    }))
  const findPerson = createSenderFinder({ contacts: value.contacts, messages: [...ended, ...declined] }, others)
  const report = (call: Call, given: JsonObject) => {
    const id = readId(given.id)
    const person = findPerson(given)
    const isUnknown = person.waId === null && person.userId === null
    return id === null || isUnknown ? [] : [{ id, person, call, timestamp: given.timestamp }]
  }
  return [
    ...ended.flatMap((given) => report(readEnd(given), given)),
    ...declined.flatMap((given) => report({ direction: 'outbound', outcome: 'rejected', seconds: null }, given)),
  ]
}

/** The call with the contact as its sender. Some callbacks swap the two numbers; the one of `metadata` is ours. */
function withSender(call: JsonObject, business: string | null): JsonObject {
  const isOurs = call.direction === 'BUSINESS_INITIATED'
  const [number, other] = isOurs ? [call.to, call.from] : [call.from, call.to]
  const to = { from_user_id: call.to_user_id, from_parent_user_id: call.to_parent_user_id }
  const { from_user_id, from_parent_user_id } = call
  const from = { from_user_id, from_parent_user_id }
  const [ids, otherIds] = isOurs ? [to, from] : [from, to]
  const isSwapped = business !== null && readDigits(number) === business
  const hasIds = (ids.from_user_id ?? ids.from_parent_user_id ?? null) !== null
  return { ...call, from: isSwapped ? other : number, ...(hasIds ? ids : otherIds) }
}

function readEnd(call: JsonObject): Call {
  const direction = call.direction === 'BUSINESS_INITIATED' ? 'outbound' : 'inbound'
  const start = readSeconds(call.start_time)
  if (start === null) return { direction, outcome: direction === 'inbound' ? 'missed' : 'failed', seconds: null }
  const end = readSeconds(call.end_time)
  const seconds = readSeconds(call.duration) ?? (end === null ? null : end - start)
  return { direction, outcome: 'answered', seconds: seconds !== null && isLength(seconds) ? seconds : null }
}

function isLength(seconds: number): boolean {
  return seconds >= 0 && seconds <= MAX_SECONDS
}

/** Whole seconds, as text or number; null for other values. */
function readSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof seconds === 'number' && Number.isSafeInteger(seconds) ? seconds : null
}
