import type { ThreadMessage } from '../window.js'

/** The status to show: messages without an outcome are pending, and WhatsApp holds some back. */
export function stateOf({
  message_status,
  outcome,
}: Pick<ThreadMessage, 'message_status' | 'outcome'>): ThreadMessage['message_status'] | 'pending' | 'held' {
  if (message_status !== 'sent' || outcome === null) return message_status
  return outcome === 'held' ? 'held' : 'pending'
}
