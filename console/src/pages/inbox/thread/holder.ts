import type { ThreadMessage } from './window.js'

/** After this time without a message, nobody holds a conversation. */
const HELD_MS = 24 * 3_600_000

/** Who holds the conversation from this message on: the organization, or another app; null if it does not say. */
export function holderAfter(message: ThreadMessage): 'us' | 'other' | null {
  const { content, handled_by, sender_type, message_type, message_status, outcome } = message
  if (content?.type === 'handover') return content.holder === 'other' ? 'other' : 'us'
  if (handled_by) return 'other'
  if (sender_type === 'system' || message_type === 'system' || message_type === 'call') return null
  if (sender_type === 'user-chat') return 'us'
  // Only a message that WhatsApp took, and that is no template, takes the conversation over.
  return message_type === 'template' || message_status === 'failed' || outcome !== null ? null : 'us'
}

/**
 * The indexes of the messages with which another app begins to answer, and no hand-over before them says so. `isBeginning`:
 * the first message is that of the conversation; what came before any other is not known.
 */
export function startsOfStandby(messages: readonly ThreadMessage[], isBeginning: boolean): Set<number> {
  const starts = new Set<number>()
  let isHeld = !isBeginning
  messages.forEach((message, n) => {
    const holder = holderAfter(message)
    if (holder === 'other' && !isHeld && message.content?.type !== 'handover') starts.add(n)
    if (holder !== null) isHeld = holder === 'other'
  })
  return starts
}

/** Whether another app, such as WhatsApp's own agent, answers the customer now, by the newest messages. */
export function isHeldByOther(messages: readonly ThreadMessage[], now: Date): boolean {
  const decisive = messages.findLast((message) => holderAfter(message) !== null)
  if (decisive === undefined || holderAfter(decisive) !== 'other') return false
  const newest = messages.at(-1) ?? decisive
  return now.getTime() - Date.parse(newest.created_at) < HELD_MS
}
