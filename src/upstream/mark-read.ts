import { NotConnectedError } from '../lib/http/dispatch.js'
import { errorMessage } from '../lib/text/error-message.js'
import { bareStatusText } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'
import type { MarkRead } from './wire.js'

/** The outcome of marking a message as read, which can be repeated. */
export type MarkReadOutcome =
  | { outcome: 'done' }
  /** `code` is the upstream's, or the HTTP status if there is none. */
  | { outcome: 'refused'; code: number; text: string }
  /** The upstream was not reached; nothing was done. */
  | { outcome: 'not_reached'; text: string }
  | { outcome: 'unknown'; text: string }

/** A received message to mark as read, by the upstream's id. */
export interface ReadMark {
  messageId: string
  /** Whether typing is shown below it, until an answer comes or for 25 seconds. */
  isTyping: boolean
}

/** Marks a received message as read, waiting at most `timeoutMs`. Never throws. */
export async function markRead(
  connection: Connection,
  number: BusinessNumber,
  { messageId, isTyping }: ReadMark,
  timeoutMs: number,
): Promise<MarkReadOutcome> {
  const path = `/${encodeURIComponent(number.phoneNumberId)}/messages`
  const headers = { 'content-type': 'application/json' }
  const body: MarkRead = {
    messaging_product: 'whatsapp',
    status: 'read',
    message_id: messageId,
    ...(isTyping && { typing_indicator: { type: 'text' } }),
  }
  try {
    const call = { method: 'POST', path, headers, body: JSON.stringify(body) } as const
    const { isSuccess, status, error } = await makeCall(connection, number, call, timeoutMs)
    if (error) return { outcome: 'refused', code: error.code, text: error.text }
    return isSuccess ? { outcome: 'done' } : { outcome: 'refused', code: status, text: bareStatusText(status) }
  } catch (error) {
    const text = errorMessage(error)
    return error instanceof NotConnectedError
      ? { outcome: 'not_reached', text: `no connection: ${text}` }
      : { outcome: 'unknown', text: `no answer: ${text}` }
  }
}
