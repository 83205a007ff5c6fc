import { type BusinessNumber, type Connection, makeCall } from './connection.js'
import { type RepeatableOutcome, settle } from './repeatable.js'
import type { MarkRead } from './wire.js'

/** A received message to mark as read, by the upstream's id. */
export interface ReadMark {
  messageId: string
  /** Whether typing is shown below it, until an answer comes or for 25 seconds. */
  isTyping: boolean
}

/** Marks a received message as read, waiting at most `timeoutMs`. Never throws. */
export function markRead(
  connection: Connection,
  number: BusinessNumber,
  { messageId, isTyping }: ReadMark,
  timeoutMs: number,
): Promise<RepeatableOutcome> {
  const path = `/${encodeURIComponent(number.phoneNumberId)}/messages`
  const headers = { 'content-type': 'application/json' }
  const body: MarkRead = {
    messaging_product: 'whatsapp',
    status: 'read',
    message_id: messageId,
    ...(isTyping && { typing_indicator: { type: 'text' } }),
  }
  const call = { method: 'POST', path, headers, body: JSON.stringify(body) } as const
  return settle(makeCall(connection, number, call, timeoutMs))
}
