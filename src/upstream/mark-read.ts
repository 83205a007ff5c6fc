import { NotConnectedError } from '../lib/http/dispatch.js'
import { bareStatusText } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'
import type { MarkRead } from './wire.js'

/** What became of marking a message as read; doing it again is harmless. */
export type MarkReadOutcome =
  | { outcome: 'done' }
  /** `code` is the upstream's, or the HTTP status where its answer has none. */
  | { outcome: 'refused'; code: number; text: string }
  /** It was surely not done: the upstream was not reached. */
  | { outcome: 'not_reached'; text: string }
  | { outcome: 'unknown'; text: string }

/** Marks a received message, by the upstream's id, as read; gives up waiting after `timeoutMs`. Never throws. */
export async function markRead(
  connection: Connection,
  number: BusinessNumber,
  messageId: string,
  timeoutMs: number,
): Promise<MarkReadOutcome> {
  const path = `/${encodeURIComponent(number.phoneNumberId)}/messages`
  const headers = { 'content-type': 'application/json' }
  const body: MarkRead = { messaging_product: 'whatsapp', status: 'read', message_id: messageId }
  try {
    const call = { method: 'POST', path, headers, body: JSON.stringify(body) } as const
    const { isSuccess, status, error } = await makeCall(connection, number, call, timeoutMs)
    if (error) return { outcome: 'refused', code: error.code, text: error.text }
    return isSuccess ? { outcome: 'done' } : { outcome: 'refused', code: status, text: bareStatusText(status) }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return error instanceof NotConnectedError
      ? { outcome: 'not_reached', text: `no connection: ${text}` }
      : { outcome: 'unknown', text: `no answer: ${text}` }
  }
}
