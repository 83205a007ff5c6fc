import type { Context } from '../../context.js'
import type { StorefrontOrder } from '../../model/broadcasts/storefront-order.js'
import { normalizeUtm, readUtm, toUtmValue, type Utm } from '../../model/broadcasts/utm.js'
import { findOrganization } from '../../storage/organizations/organizations.js'
import { putStorefrontOrders } from '../../storage/storefront/orders.js'
import type { ShopOrder } from '../../storefront/client.js'
import { findBuyers } from './buyers.js'

/**
 * Records what a storefront says of orders; what it said later already stands. `webhookId`: who told; what came by it before is
 * not recorded again. Of the buyer no more is kept than which contact it is.
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

/** An order as it is recorded: where its buyer came from is read from the landing page (spec 4.5). */
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

/** What the shop itself read counts where the landing page is not told, or says nothing. */
function readVisit({ landingPage, utm }: ShopOrder): Utm {
  const read = readUtm(landingPage)
  if (utm === null || read.source !== null || read.campaign !== null) return read
  return { source: toUtmValue(utm.source), campaign: toUtmValue(utm.campaign) }
}
