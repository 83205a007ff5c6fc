import type { Context } from '../../../context.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { addressesOf, readNumber } from '../../../model/contacts/written-number.js'
import type { Organization } from '../../../model/organizations/organization.js'

/** The contact that a JID or number names; null if there is none. */
export async function findChatContact(
  ctx: Pick<Context, 'lookUp'>,
  organization: Organization,
  jid: string,
): Promise<Contact | null> {
  const addresses = addressesOf(readNumber(jid, organization.default_country, 'international'))
  return addresses.length === 0 ? null : ctx.lookUp.contact({ organizationId: organization.id, addresses })
}
