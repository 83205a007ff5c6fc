import type { Context } from '../../../context.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { addressesOf, readGatewayNumber } from '../../../model/instances/gateway-number.js'
import type { Organization } from '../../../model/organizations/organization.js'

/** The contact that a JID or number names; null if there is none. */
export async function findChatContact(
  ctx: Pick<Context, 'lookUp'>,
  organization: Organization,
  jid: string,
): Promise<Contact | null> {
  const number = readGatewayNumber(jid, organization.default_country)
  if (number === null) return null
  return ctx.lookUp.contact({ organizationId: organization.id, addresses: addressesOf(number) })
}
