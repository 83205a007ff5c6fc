import { NotConnectedError } from '../lib/http/dispatch.js'
import { errorMessage } from '../lib/text/error-message.js'
import { asObject, asObjects, asText } from '../lib/text/json.js'
import { toStorable } from '../lib/text/text.js'
import { type Answer, bareStatusText } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'
import type { BlockedPerson, BlockUsers } from './wire.js'

/** The outcome of blocking or unblocking a person, which can be repeated. */
export type BlockOutcome =
  | { outcome: 'done' }
  /** `code` is the upstream's, or the HTTP status if there is none. */
  | { outcome: 'refused'; code: number; text: string }
  /** There was no answer; `text` says whether it may have been done. */
  | { outcome: 'unknown'; text: string }

/** Who is to be blocked, or unblocked. */
export interface Blocking {
  person: BlockedPerson
  isBlocked: boolean
}

const MAX_REASON_LENGTH = 1_000

/** Blocks a person at the upstream, or unblocks one, waiting at most `timeoutMs`. Never throws. */
export async function blockUser(
  connection: Connection,
  number: BusinessNumber,
  { person, isBlocked }: Blocking,
  timeoutMs: number,
): Promise<BlockOutcome> {
  const path = `/${encodeURIComponent(number.phoneNumberId)}/block_users`
  const headers = { 'content-type': 'application/json' }
  const body: BlockUsers = { messaging_product: 'whatsapp', block_users: [person] }
  const method = isBlocked ? 'POST' : 'DELETE'
  try {
    return readOutcome(
      await makeCall(connection, number, { method, path, headers, body: JSON.stringify(body) }, timeoutMs),
    )
  } catch (error) {
    const text = errorMessage(error)
    const what = error instanceof NotConnectedError ? 'no connection, nothing was done' : 'no answer'
    return { outcome: 'unknown', text: `${what}: ${text}` }
  }
}

/** Why a person is refused is in the list of those who failed; the error of the whole only says that somebody did. */
function readOutcome({ isSuccess, status, body, error }: Answer): BlockOutcome {
  const [failed] = asObjects(asObject(body?.block_users).failed_users)
  const [reason] = asObjects(failed?.errors)
  const code = reason?.code
  if (Number.isSafeInteger(code)) {
    const text = asText(asObject(reason?.error_data).details) ?? asText(reason?.message) ?? `error ${code}`
    return { outcome: 'refused', code: code as number, text: toStorable(text.slice(0, MAX_REASON_LENGTH)) }
  }
  if (error) return { outcome: 'refused', code: error.code, text: error.text }
  return isSuccess ? { outcome: 'done' } : { outcome: 'refused', code: status, text: bareStatusText(status) }
}
