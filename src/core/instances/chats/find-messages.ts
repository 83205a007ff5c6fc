import type { Context } from '../../../context.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { findChannelTotal } from '../../../storage/counts/channels.js'
import {
  countChannelMessages,
  LOOKED_THROUGH,
  listChannelMessages,
  listWholeChannel,
} from '../../../storage/instances/channel-messages.js'
import {
  type ChannelFilter,
  type ChannelMessage,
  countConversationMessages,
  findChannelMessage,
  findNewestOfConversation,
  isEvery,
  isOnlyChannel,
  listConversationMessages,
  listWholeConversation,
} from '../../../storage/instances/messages.js'
import { findChatContact } from './chat-contact.js'

/** Selects messages of an instance; all given criteria must match. */
export interface MessageSearch extends ChannelFilter {
  /** The message's id on the network. */
  keyId: string | null
  remoteJid: string | null
}

/** A page; the first is 1. */
export interface GatewayPage {
  page: number
  limit: number
}

/** The messages of one page, newest first, and the number of messages on all pages. */
export interface FoundMessages {
  messages: ChannelMessage[]
  total: number
}

const NOTHING: FoundMessages = { messages: [], total: 0 }

/** A page of the messages on an instance's channel, newest first. */
export async function findMessages(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  { search, page }: { search: MessageSearch; page: GatewayPage },
): Promise<FoundMessages> {
  const channelId = channelIdOf(instance)
  const contact = search.remoteJid === null ? null : await findChatContact(ctx, organization, search.remoteJid)
  if (search.remoteJid !== null && contact === null) return NOTHING
  if (search.keyId !== null) {
    const message = await findChannelMessage(ctx.database, organization.id, channelId, {
      keyId: search.keyId,
      filter: search,
    })
    if (message === null || (contact !== null && message.contact_id !== contact.id)) return NOTHING
    return { messages: page.page === 1 ? [message] : [], total: 1 }
  }
  return contact === null
    ? findOnChannel(ctx, instance, search, page)
    : findInConversation(ctx, { contact, channelId }, search, page)
}

/** The newest message of a chat on an instance's channel; null if the JID or number has none there. */
export async function findNewestMessage(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  remoteJid: string,
): Promise<ChannelMessage | null> {
  const contact = await findChatContact(ctx, organization, remoteJid)
  if (contact === null) return null
  return findNewestOfConversation(ctx.database, contact, channelIdOf(instance))
}

/** The total of a channel is stored. */
async function findOnChannel(
  ctx: Context,
  instance: Instance,
  filter: ChannelFilter,
  page: GatewayPage,
): Promise<FoundMessages> {
  if (!isEvery(filter)) return findFiltered(ctx, instance, filter, page)
  const { database } = ctx
  const { organization_id: organizationId } = instance
  const channelId = channelIdOf(instance)
  const total = await findChannelTotal(database, organizationId, channelId)
  const range = { ...toRange(page), total }
  const messages = range.skip < total ? await listWholeChannel(database, organizationId, channelId, range) : []
  return { messages, total }
}

/** Throws invalid_parameter if the filter does not find the page among the messages that it looks through. */
async function findFiltered(
  { database }: Context,
  instance: Instance,
  filter: ChannelFilter,
  page: GatewayPage,
): Promise<FoundMessages> {
  const { organization_id: organizationId } = instance
  const channelId = channelIdOf(instance)
  const { total, is_cut: isCut } = await countChannelMessages(database, organizationId, channelId, filter)
  const { skip, limit } = toRange(page)
  if (isCut && skip + limit > total) throw lookedThrough(page)
  const messages =
    skip < total ? await listChannelMessages(database, organizationId, channelId, { filter, skip, limit }) : []
  return { messages, total }
}

function lookedThrough({ page }: GatewayPage): Problem {
  return new Problem(
    'invalid_parameter',
    `page ${page} is not among the newest ${LOOKED_THROUGH} messages, which are all that this filter looks through: ` +
      'narrow messageTimestamp, or give key.remoteJid',
  )
}

/** If the organization has only one channel, as most have, the numbering of the conversation gives total and offset. */
async function findInConversation(
  { database }: Context,
  { contact, channelId }: { contact: Contact; channelId: string | null },
  filter: ChannelFilter,
  page: GatewayPage,
): Promise<FoundMessages> {
  const { organization_id: organizationId, last_seq, pruned_seq } = contact
  const isWhole = isEvery(filter) && (await isOnlyChannel(database, organizationId, channelId))
  const total = isWhole ? last_seq - pruned_seq : await countConversationMessages(database, contact, channelId, filter)
  const range = { ...toRange(page), total }
  if (range.skip >= total) return { messages: [], total }
  const messages = isWhole
    ? await listWholeConversation(database, contact, channelId, range)
    : await listConversationMessages(database, contact, channelId, { filter, ...range })
  return { messages, total }
}

function toRange({ page, limit }: GatewayPage): { skip: number; limit: number } {
  return { skip: (page - 1) * limit, limit }
}
