import type { Context } from '../../context.js'
import type { AttributedRevenue, Revenue } from '../../model/broadcasts/revenue.js'
import { campaignVariants, normalizeUtm } from '../../model/broadcasts/utm.js'
import type { Organization } from '../../model/organizations/organization.js'
import {
  type AttributedSum,
  type ListedOrder,
  listAttributedOrders,
  type Span,
  sumAttributedOrders,
} from '../../storage/analytics/attribution.js'
import { findStorefrontSettings } from '../../storage/organizations/organizations.js'
import { type OrderSum, sumStorefrontOrders } from '../../storage/storefront/orders.js'
import { resolveUtmCampaigns } from '../../storage/storefront/short-links.js'
import { findAttribution, ordersAfter } from './attribution.js'

/** The sources of a broadcast's campaigns. */
export interface CampaignSources {
  /** Values of button parameters that may hold a short link's code (model/broadcasts/short-link, readShortCode). */
  codes: readonly string[]
  /** Known utm_campaign values. */
  campaigns: readonly string[]
}

/** A broadcast or one-off send; `sent`: from its first message to its last, null if none was sent. */
export interface RevenueOf extends CampaignSources {
  broadcastId: string
  sent: Span | null
}

const NEVER = new Date(0)

/**
 * The revenue of the orders that came through the given campaigns: orders whose landing page has one of
 * PARLEY_CHANNEL_NAMES as utm_source, and a campaign or its name with a suffix as utm_campaign, ignoring case. Tests
 * and cancelled orders are left out; unpaid, voided and refunded orders count with their original price. `utmCampaigns`
 * has an entry for each campaign, and each suffix of it, with orders in the organization's currency, spelled as in the
 * link; the campaign itself comes first, and no order counts in two entries. All figures are zero without a campaign or
 * a storefront. `attributed` is the part attributed to this broadcast only (core/analytics/attribution).
 */
export async function findRevenue(
  ctx: Pick<Context, 'database' | 'channelNames'>,
  organization: Organization,
  { codes, campaigns, broadcastId, sent }: RevenueOf,
): Promise<Revenue> {
  const resolved = await resolveUtmCampaigns(ctx.database, organization.id, codes)
  const spellings = spellingsOf([...resolved, ...campaigns])
  const isConnected = spellings.size > 0 && (await findStorefrontSettings(ctx.database, organization.id)) !== null
  if (!isConnected) return present(organization, new Map(), NOTHING)
  const { id, currency } = organization
  // Orders cannot be attributed to a broadcast that was never sent.
  const span = ordersAfter(sent ?? { from: NEVER, to: NEVER }, organization)
  const attribution = await findAttribution(ctx, organization, [...spellings.keys()], span)
  const [sums, orders, attributed] = await Promise.all([
    sumStorefrontOrders(ctx.database, id, attribution),
    listAttributedOrders(ctx.database, id, attribution, broadcastId),
    sumAttributedOrders(ctx.database, id, attribution, { broadcastId, span, currency }),
  ])
  return present(organization, spellings, { sums, orders, attributed })
}

/** The normalized campaigns and their suffixes, with the first spelling of each, in order. */
function spellingsOf(campaigns: readonly string[]): Map<string, string> {
  const spellings = new Map<string, string>()
  for (const spelling of campaigns.flatMap(campaignVariants)) {
    const normalized = normalizeUtm(spelling)
    if (!spellings.has(normalized)) spellings.set(normalized, spelling)
  }
  return spellings
}

/** Presents the revenue attributed to one or more broadcasts. */
export function presentAttributed(
  { currency, attribution_window_days }: Organization,
  sum: AttributedSum | null,
): AttributedRevenue {
  const { revenue: totalRevenue, orderCount, avgOrderValue } = sum ?? { revenue: 0, orderCount: 0, avgOrderValue: 0 }
  return { totalRevenue, orderCount, avgOrderValue, currency, window_days: attribution_window_days }
}

interface Found {
  sums: readonly OrderSum[]
  orders: readonly ListedOrder[]
  attributed: AttributedSum | null
}

const NOTHING: Found = { sums: [], orders: [], attributed: null }

function present(
  organization: Organization,
  spellings: ReadonlyMap<string, string>,
  { sums, orders, attributed }: Found,
): Revenue {
  const { currency } = organization
  const total = sums.find((sum) => sum.currency === currency && sum.campaign === null)
  const campaigns = [...spellings.values()]
  return {
    totalRevenue: total?.revenue ?? 0,
    currency,
    orderCount: total?.orderCount ?? 0,
    avgOrderValue: total?.avgOrderValue ?? 0,
    utmCampaign: campaigns[0] ?? null,
    utmCampaigns: sums
      .filter((sum) => sum.currency === currency)
      .flatMap(({ campaign, orderCount, revenue, avgOrderValue }) =>
        campaign === null
          ? []
          : [{ campaign: spellings.get(campaign) ?? campaign, orderCount, revenue, avgOrderValue }],
      )
      .sort((one, other) => campaigns.indexOf(one.campaign) - campaigns.indexOf(other.campaign)),
    orders: orders.map((order) => ({
      orderName: order.name,
      totalPrice: order.total_price,
      currency: order.currency,
      orderDate: order.ordered_at.toISOString(),
      financialStatus: order.financial_status,
      utmCampaign: order.utm_campaign,
      attributed: order.attributed && order.currency === currency,
    })),
    otherCurrencies: sums
      .filter((sum) => sum.campaign === null && sum.currency !== currency)
      .map((sum) => ({ currency: sum.currency, totalRevenue: sum.revenue, orderCount: sum.orderCount })),
    attributed: presentAttributed(organization, attributed),
  }
}
