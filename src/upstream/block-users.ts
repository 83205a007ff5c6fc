import { asObject, asObjects, asText } from '../lib/text/json.js'
import { toStorable } from '../lib/text/text.js'
import type { Answer } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'
import { classifyRefusal } from './errors.js'
import { type RepeatableOutcome, settle } from './repeatable.js'
import type { BlockedPerson, BlockUsers } from './wire.js'

/** Who is to be blocked, or unblocked. */
export interface Blocking {
  person: BlockedPerson
  isBlocked: boolean
}

const MAX_REASON_LENGTH = 1_000

/** Blocks a person at the upstream, or unblocks one, waiting at most `timeoutMs`. Never throws. */
export function blockUser(
  connection: Connection,
  number: BusinessNumber,
  { person, isBlocked }: Blocking,
  timeoutMs: number,
): Promise<RepeatableOutcome> {
  const path = `/${encodeURIComponent(number.phoneNumberId)}/block_users`
  const headers = { 'content-type': 'application/json' }
  const body: BlockUsers = { messaging_product: 'whatsapp', block_users: [person] }
  const method = isBlocked ? 'POST' : 'DELETE'
  const call = { method, path, headers, body: JSON.stringify(body) } as const
  return settle(makeCall(connection, number, call, timeoutMs).then(withReason))
}

/** Why a person is refused is in the list of those who failed; the error of the whole only says that somebody did. */
function withReason(answer: Answer): Answer {
  const [failed] = asObjects(asObject(answer.body?.block_users).failed_users)
  const [reason] = asObjects(failed?.errors)
  if (!Number.isSafeInteger(reason?.code)) return answer
  const code = reason?.code as number
  const text = asText(asObject(reason?.error_data).details) ?? asText(reason?.message) ?? `error ${code}`
  return { ...answer, error: { code, kind: classifyRefusal(code), text: toStorable(text.slice(0, MAX_REASON_LENGTH)) } }
}
