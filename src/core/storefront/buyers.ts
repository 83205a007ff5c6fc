import type { Queryable } from '../../database/pool.js'
import { addressesOf, readNumber } from '../../model/contacts/written-number.js'
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
    addresses: buyer.phones.flatMap((phone) => addressesOf(readNumber(phone, organization.default_country, 'table'))),
  }))
  const byPhone = await findContactsByAddresses(db, lookups)
  const normalized = orders.map(({ buyer }, index) => (byPhone[index] ? [] : buyer.emails.map(normalizeEmail)))
  const byEmail = await findContactIdsByEmail(db, organization.id, [...new Set(normalized.flat())])
  return orders.map((_, index) => {
    const email = normalized[index]?.find((one) => byEmail.has(one)) ?? ''
    return byPhone[index]?.id ?? byEmail.get(email) ?? null
  })
}

function normalizeEmail(email: string): string {
  return email.toLowerCase()
}
