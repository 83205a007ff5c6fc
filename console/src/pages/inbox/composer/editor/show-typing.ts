import { api } from '../../../../api/client.js'
import type { Route } from '../requests.js'

/** WhatsApp shows typing for 25 seconds. */
const AGAIN_MS = 20_000

/** When typing was last shown to each contact, also while another conversation is open. */
const shownAt = new Map<string, number>()

/**
 * Shows the contact that somebody is typing, at most once in 20 seconds. WhatsApp cannot show it to a group of a business
 * number.
 */
export function showTyping({ contact, channel }: Route): void {
  if (contact.group) return
  const now = performance.now()
  if (now - (shownAt.get(contact.id) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return
  shownAt.set(contact.id, now)
  const body = { contactId: contact.id, ...(channel?.instance && { instance: channel.instance }) }
  // The member can write and send without it.
  api.post('/conversations/typing', body).catch(() => undefined)
}
