import { asObject, asObjects } from '../lib/text/json.js'
import { type Answer, readError } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'
import { type RepeatableOutcome, settle } from './repeatable.js'
import type { BlockedPerson, BlockUsers } from './wire.js'

/** Who is to be blocked, or unblocked. */
export interface Blocking {
  person: BlockedPerson
  isBlocked: boolean
}

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
  const error = readError(asObject(reason))
  return error === null ? answer : { ...answer, error }
}
