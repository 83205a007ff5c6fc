import type { Queryable } from '../../database/pool.js'
import { readPhoneNumber } from '../../model/contacts/phone-number.js'
import type { Organization } from '../../model/organizations/organization.js'
import { findContactIdsByEmail, findContactsByAddresses } from '../../storage/contacts/contacts.js'
import type { ShopOrder } from '../../storefront/client.js'

type Buyer = Pick<ShopOrder, 'buyer'>

/**
 * The ids of the contacts that placed the orders, in the order of the orders; null if unknown. A phone number takes
 * precedence over an e-mail address, and an address shared by several contacts is ignored.
 */
export async function findBuyers(
  db: Queryable,
  organization: Organization,
  orders: readonly Buyer[],
): Promise<(string | null)[]> {
  const lookups = orders.map(({ buyer }) => ({
    organizationId: organization.id,
    addresses: buyer.phones.flatMap((phone) => formsOf(organization, phone)),
  }))
  const byPhone = await findContactsByAddresses(db, lookups)
  const normalized = orders.map(({ buyer }, index) => (byPhone[index] ? [] : buyer.emails.map(normalizeEmail)))
  const byEmail = await findContactIdsByEmail(db, organization.id, [...new Set(normalized.flat())])
  return orders.map((_, index) => {
    const email = normalized[index]?.find((one) => byEmail.has(one)) ?? ''
    return byPhone[index]?.id ?? byEmail.get(email) ?? null
  })
}

/** The forms under which a contact with this number may be stored; none if it is not a number. */
function formsOf({ default_country: country }: Organization, phone: string): readonly string[] {
  const reading = readPhoneNumber(phone, country)
  return reading.possible ? reading.forms : []
}

function normalizeEmail(email: string): string {
  return email.toLowerCase()
}
