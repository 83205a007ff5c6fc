import type { Context } from '../../../context.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { type ChatPart, type ChatRange, type ChatRow, orderChats, readChats } from '../../../storage/instances/chats.js'
import { findChatContact } from './chat-contact.js'

export type { ChatRow } from '../../../storage/instances/chats.js'

/** The newest chats, as many as the largest page has, are read for each request. */
const ALWAYS_READ = 1_000
/** The order of these chats is remembered for a minute; chats after them are found by sorting all before them. */
const MAX_REMEMBERED = 101_000

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
    const contactIds = await findChatOrder(ctx, organization, instance, { from, to }, { skip, limit: take })
    return readChats(ctx.database, organization.id, channelIdOf(instance), contactIds)
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

/** A page of the ids of the contacts with messages on an instance's channel, newest message first. */
export async function findChatOrder(
  { database, listOrders }: Context,
  organization: Organization,
  instance: Instance,
  range: ChatRange,
  { skip, limit }: { skip: number; limit: number },
): Promise<string[]> {
  const channelId = channelIdOf(instance)
  const order = (part: ChatPart, readBefore = 0) =>
    orderChats(database, organization.id, channelId, range, part, readBefore)
  const end = skip + limit
  if (end <= ALWAYS_READ || end > MAX_REMEMBERED) {
    const { ids } = await order({ skip, limit, enough: limit })
    return ids.slice(0, limit)
  }
  const name = ['chats', channelId, range.from?.getTime(), range.to?.getTime()].join('/')
  const ids = await listOrders.find(organization.id, name, end, (readBefore) =>
    order({ skip: 0, limit: MAX_REMEMBERED, enough: end }, readBefore),
  )
  return ids.slice(skip, end)
}

function isWithin({ created_at }: ChatRow, { from, to }: ChatRange): boolean {
  const at = new Date(created_at)
  return (from === null || at >= from) && (to === null || at <= to)
}
