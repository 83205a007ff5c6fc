import type { Context } from '../../../context.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { normalizeTerm } from '../../../model/conversations/search-terms.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { findContactById } from '../../../storage/contacts/contacts.js'
import { readContacts } from '../../../storage/contacts/lists.js'
import { orderChats } from '../../../storage/instances/chats.js'
import { hasMessageOnChannel, listNamedOnChannel } from '../../../storage/instances/contacts.js'
import { findContactPage, listAllContacts } from '../../contacts/list.js'
import { findChatContact } from './chat-contact.js'
import type { GatewayPage } from './find-messages.js'

/** Selects contacts by the first of these that is given; otherwise all. `pushName` matches a part of the name. */
export interface ContactSearch {
  id: string | null
  remoteJid: string | null
  pushName: string | null
}

/** A page of the organization's contacts, most recently active first. All instances share them. */
export async function findContacts(
  ctx: Context,
  organization: Organization,
  search: ContactSearch,
  { page, limit }: GatewayPage,
): Promise<Contact[]> {
  const skip = (page - 1) * limit
  if (namesOne(search)) return findOne(ctx, organization, search, skip)
  const wanted = normalizeName(search)
  const { contacts } =
    wanted === null
      ? await listAllContacts(ctx, organization.id, { page, limit })
      : await findContactPage(ctx, organization.id, { name: wanted, digits: null, forms: [] }, { page, limit })
  return contacts
}

/**
 * Like findContacts, limited to contacts with a message on the instance's channel, which are those that its token may
 * see.
 */
export async function findContactsOfInstance(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  { search, page: { page, limit } }: { search: ContactSearch; page: GatewayPage },
): Promise<Contact[]> {
  const skip = (page - 1) * limit
  const channelId = channelIdOf(instance)
  if (!namesOne(search)) {
    const name = normalizeName(search)
    const ids =
      name === null
        ? await orderChats(ctx.database, organization.id, channelId, { from: null, to: null, skip, limit })
        : await listNamedOnChannel(ctx.database, organization.id, channelId, { name, skip, limit })
    return readContacts(ctx.database, organization.id, ids)
  }
  const [contact] = await findOne(ctx, organization, search, skip)
  return contact && (await hasMessageOnChannel(ctx.database, organization.id, channelId, contact.id)) ? [contact] : []
}

function namesOne({ id, remoteJid }: ContactSearch): boolean {
  return id !== null || remoteJid !== null
}

async function findOne(
  ctx: Context,
  organization: Organization,
  { id, remoteJid }: ContactSearch,
  skip: number,
): Promise<Contact[]> {
  const contact =
    id === null
      ? await findChatContact(ctx, organization, remoteJid as string)
      : await findContactById(ctx.database, organization.id, id)
  return contact === null || skip > 0 ? [] : [contact]
}

function normalizeName({ pushName }: ContactSearch): string | null {
  return pushName === null ? null : normalizeTerm(pushName)
}
