import type { Context } from '../../context.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { placeholderValues, unnamedWord } from '../../model/templates/placeholders.js'
import { findContactByAddresses } from '../../storage/contacts/contacts.js'
import { requireContact } from '../contacts/find.js'
import { requireNumber } from '../contacts/numbers.js'

/** A recipient: a contact, or a number with the name of the contact that would be created. */
export type PreviewedRecipient = { contactId: string } | { chatNumber: string; name: string | null }

/**
 * The value of each placeholder for a recipient if a template were sent now. Writes nothing. Throws contact_not_found
 * for an unknown id, invalid_field for an invalid number.
 */
export async function readPlaceholders(
  ctx: Pick<Context, 'database'>,
  tenant: Tenant,
  recipient: PreviewedRecipient,
): Promise<Record<string, string | null>> {
  return placeholderValues({ ...(await findPerson(ctx, tenant, recipient)), unnamed: unnamedWord(tenant) })
}

async function findPerson(ctx: Pick<Context, 'database'>, tenant: Tenant, recipient: PreviewedRecipient) {
  if ('contactId' in recipient) return requireContact(ctx, tenant.id, recipient.contactId)
  // The recipient is a line of a pasted list.
  const given = { name: 'chatNumber', value: recipient.chatNumber }
  const { digits, forms } = await requireNumber(ctx, tenant, given, { field: 'table', place: 'query' })
  const known = await findContactByAddresses(ctx.database, tenant.id, forms)
  return known ?? { full_name: recipient.name, email: null, phone_number: `+${digits}`, chat_id: digits }
}
