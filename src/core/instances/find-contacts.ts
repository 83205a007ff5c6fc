import type { Context } from '../../context.js'
import type { Contact } from '../../model/contact.js'
import type { Organization } from '../../model/organization.js'
import { foldTerm } from '../../model/search-terms.js'
import { listContactPage } from '../../storage/contact-lists.js'
import { findContactById } from '../../storage/contacts.js'
import { findContactPage } from '../contacts/list.js'
import { findChatContact } from './chat-contact.js'
import type { GatewayPage } from './find-messages.js'

/** Which contacts: by one of these, the first that is given; else all. `pushName`: a part of the name. */
export interface ContactSearch {
  id: string | null
  remoteJid: string | null
  pushName: string | null
}

/** A page of the organization's contacts, which all of its instances share, most recently active first. */
export async function findContacts(
  ctx: Context,
  organization: Organization,
  { id, remoteJid, pushName }: ContactSearch,
  { page, limit }: GatewayPage,
): Promise<Contact[]> {
  const skip = (page - 1) * limit
  if (id !== null || remoteJid !== null) {
    const contact =
      id === null
        ? await findChatContact(ctx, organization, remoteJid as string)
        : await findContactById(ctx.database, organization.id, id)
    return contact === null || skip > 0 ? [] : [contact]
  }
  const search = pushName === null ? null : { name: foldTerm(pushName), digits: null, forms: [] }
  const { contacts } =
    search === null
      ? await listContactPage(ctx.database, organization.id, skip, limit)
      : await findContactPage(ctx, organization.id, search, skip, limit)
  return contacts
}
