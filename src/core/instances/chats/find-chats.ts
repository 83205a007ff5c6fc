import type { Context } from '../../../context.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { type ChatRange, type ChatRow, orderChats, readChats } from '../../../storage/instances/chats.js'
import { findChatContact } from './chat-contact.js'

export type { ChatRow } from '../../../storage/instances/chats.js'

/** Selects chats of an instance by the time of their newest message; `take` of them after the first `skip`. */
export interface ChatSearch extends ChatRange {
  remoteJid: string | null
  skip: number
  take: number
}

/** The chats with messages on an instance's channel, newest first. */
export async function findChats(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  { remoteJid, from, to, skip, take }: ChatSearch,
): Promise<ChatRow[]> {
  if (remoteJid === null) {
    const channelId = channelIdOf(instance)
    const page = { from, to, skip, limit: take }
    const contactIds = await orderChats(ctx.database, organization.id, channelId, page)
    return readChats(ctx.database, organization.id, channelId, contactIds)
  }
  const chat = skip === 0 && take > 0 ? await findChat(ctx, organization, instance, remoteJid) : null
  return chat !== null && isWithin(chat, { from, to }) ? [chat] : []
}

/** The chat that a JID or number names; null if the channel has no message of it. */
export async function findChat(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  remoteJid: string,
): Promise<ChatRow | null> {
  const contact = await findChatContact(ctx, organization, remoteJid)
  if (contact === null) return null
  const [chat] = await readChats(ctx.database, organization.id, channelIdOf(instance), [contact.id])
  return chat ?? null
}

function isWithin({ created_at }: ChatRow, { from, to }: ChatRange): boolean {
  const at = new Date(created_at)
  return (from === null || at >= from) && (to === null || at <= to)
}
