import type { Context } from '../../context.js'
import type { InboxRow } from '../../model/conversations/inbox.js'
import { readInboxContacts } from '../../storage/inbox/inbox.js'
import { contactNotFound } from '../contacts/find.js'

/** A contact as the inbox shows it. Throws contact_not_found. */
export async function requireInboxContact(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  contactId: string,
): Promise<InboxRow> {
  const [contact] = await readInboxContacts(database, organizationId, [contactId])
  if (contact) return contact
  throw contactNotFound(contactId)
}
