import type { Context } from '../../../context.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { addressesOf, readGatewayNumber } from '../../../model/instances/gateway-number.js'
import type { Organization } from '../../../model/organizations/organization.js'

/** The contact whose chat a JID or a number names; null where it names none that is known here. */
export async function findChatContact(
  ctx: Pick<Context, 'lookUp'>,
  organization: Organization,
  jid: string,
): Promise<Contact | null> {
  const number = readGatewayNumber(jid, organization.default_country)
  if (number === null) return null
  return ctx.lookUp.contact({ organizationId: organization.id, addresses: addressesOf(number) })
}
