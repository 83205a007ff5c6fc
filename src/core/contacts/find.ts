import type { Context } from '../../context.js'
import type { Contact } from '../../model/contacts/contact.js'
import { Problem } from '../../model/problem.js'
import { findContactById } from '../../storage/contacts/contacts.js'

/** A contact by its id. Throws contact_not_found. */
export async function requireContact(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  contactId: string,
): Promise<Contact> {
  const contact = await findContactById(database, organizationId, contactId)
  if (contact) return contact
  throw contactNotFound(contactId)
}

/** The problem of a send to a blocked contact. */
export function contactBlocked(chatId: string): Problem {
  return new Problem('contact_blocked', `The contact ${chatId} is blocked: unblock it to send to it`, {
    chat_id: chatId,
  })
}

export function contactNotFound(contactId: string): Problem {
  return new Problem('contact_not_found', `No contact with the id ${contactId} in this organization`)
}
