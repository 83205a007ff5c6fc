import type { StorefrontOrder } from '../../model/storefront-order.js'
import { foldUtm, readUtm, toUtmValue, type Utm } from '../../model/utm.js'
import type { ShopOrder } from '../../storefront/client.js'

/** An order as it is recorded: where its buyer came from is read from the landing page (spec 4.5). */
export function toStorefrontOrder(order: ShopOrder): StorefrontOrder {
  const { source, campaign } = readVisit(order)
  return {
    id: order.id,
    name: order.name,
    total_price: order.totalPrice,
    currency: order.currency,
    ordered_at: order.orderedAt,
    financial_status: order.financialStatus,
    utm_source: source === null ? null : foldUtm(source),
    utm_campaign: campaign,
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
