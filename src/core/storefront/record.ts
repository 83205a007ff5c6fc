import type { Context } from '../../context.js'
import type { StorefrontOrder } from '../../model/broadcasts/storefront-order.js'
import { normalizeUtm, readUtm, toUtmValue, type Utm } from '../../model/broadcasts/utm.js'
import { findOrganization } from '../../storage/organizations/organizations.js'
import { putStorefrontOrders } from '../../storage/storefront/orders.js'
import type { ShopOrder } from '../../storefront/client.js'
import { findBuyers } from './buyers.js'

/**
 * Records orders of a storefront; newer data that is stored already is kept. `webhookId`: the webhook that reported
 * them; a repeated webhook changes nothing. Of the buyer, only the contact's id is stored.
 */
export async function recordOrders(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  orders: readonly ShopOrder[],
  webhookId: string | null,
): Promise<void> {
  const organization = await findOrganization(database, organizationId)
  if (!organization) return
  const buyers = await findBuyers(database, organization, orders)
  const rows = orders.map((order, index) => toStorefrontOrder(order, buyers[index] ?? null))
  await putStorefrontOrders(database, organizationId, rows, webhookId)
}

/** The order as it is stored; its source is read from the landing page. */
function toStorefrontOrder(order: ShopOrder, contactId: string | null): StorefrontOrder {
  const { source, campaign } = readVisit(order)
  return {
    id: order.id,
    name: order.name,
    total_price: order.totalPrice,
    currency: order.currency,
    ordered_at: order.orderedAt,
    financial_status: order.financialStatus,
    utm_source: source === null ? null : normalizeUtm(source),
    utm_campaign: campaign,
    contact_id: contactId,
    is_test: order.isTest,
    cancelled_at: order.cancelledAt,
    updated_at: order.updatedAt,
  }
}

/** The shop's own values are used if the landing page is missing or has none. */
function readVisit({ landingPage, utm }: ShopOrder): Utm {
  const read = readUtm(landingPage)
  if (utm === null || read.source !== null || read.campaign !== null) return read
  return { source: toUtmValue(utm.source), campaign: toUtmValue(utm.campaign) }
}
