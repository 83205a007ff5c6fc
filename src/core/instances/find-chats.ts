import type { Context } from '../../context.js'
import { type Instance, lineIdOf } from '../../model/instance.js'
import type { Organization } from '../../model/organization.js'
import { type ChatRange, type ChatRow, listChats, readChats } from '../../storage/instance-chats.js'
import { findMessages } from './find-messages.js'

export type { ChatRow } from '../../storage/instance-chats.js'

/** Which chats of an instance, by the time of their newest message; `take` of them after the first `skip`. */
export interface ChatSearch extends ChatRange {
  remoteJid: string | null
  skip: number
  take: number
}

/** The chats that an instance's connection has messages of, the one with the newest first. */
export async function findChats(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  { remoteJid, from, to, skip, take }: ChatSearch,
): Promise<ChatRow[]> {
  if (remoteJid === null) {
    return listChats(ctx.database, organization.id, lineIdOf(instance), { from, to }, { skip, limit: take })
  }
  const chat = skip === 0 && take > 0 ? await findChat(ctx, organization, instance, remoteJid, { from, to }) : null
  return chat === null ? [] : [chat]
}

/** The chat that a JID or a number names; null where the connection has no message of it. */
export async function findChat(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  remoteJid: string,
  { from, to }: ChatRange = { from: null, to: null },
): Promise<ChatRow | null> {
  const search = { keyId: null, remoteJid, fromMe: null, messageType: null, status: null, from, to }
  const { messages } = await findMessages(ctx, organization, instance, search, { page: 1, limit: 1 })
  const chats = await readChats(
    ctx.database,
    organization.id,
    messages.map(({ id }) => id),
  )
  return chats[0] ?? null
}
