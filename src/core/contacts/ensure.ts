import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { ContactNumber } from '../../model/contacts/written-number.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { findContactByAddresses, findContactById } from '../../storage/contacts/contacts.js'
import { createContact } from './contacts.js'

/** A contact that a send makes. */
export interface NewContact {
  /** With leading +. */
  phone_number: string | null
  user_id: string | null
  full_name: string | null
  /** The `source.type` that says what made it. */
  source: string
}

/** Creates a contact, or finds the one that another request has created meanwhile. */
export async function ensureContact(
  ctx: Context,
  organization: Organization,
  { source: type, ...input }: NewContact,
): Promise<Contact> {
  const source = { type, created_at: ctx.clock().toISOString() }
  try {
    return await createContact(ctx, organization, { ...input, source }, newId())
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'contact_exists') throw error
    const contact = await findContactById(ctx.database, organization.id, String(error.extras.id))
    if (contact) return contact
    throw error
  }
}

/**
 * Makes the person with a phone number or user id a contact, unless there is one. Groups cannot be made this way.
 * Throws invalid_field for a parent user id.
 */
export async function ensureRecipient(
  ctx: Context,
  organization: Organization,
  { kind, digits, forms, userId }: ContactNumber,
  named: Pick<NewContact, 'full_name' | 'source'>,
): Promise<void> {
  const phone_number = kind === 'phone' ? `+${digits}` : null
  if (phone_number === null && userId === undefined) return
  if (await findContactByAddresses(ctx.database, organization.id, forms)) return
  await ensureContact(ctx, organization, { phone_number, user_id: userId ?? null, ...named })
}
