import type { Context } from '../../context.js'
import type { DateRange } from '../../model/broadcasts/analytics.js'
import type { RangeRevenue } from '../../model/broadcasts/revenue.js'
import type { Organization } from '../../model/organizations/organization.js'
import {
  listSentCampaigns,
  type PlaceSum,
  sumAttributedByPlace,
  sumOrdersByPlace,
} from '../../storage/analytics/attribution.js'
import { findStorefrontSettings } from '../../storage/organizations/organizations.js'
import { sumStorefrontOrders } from '../../storage/storefront/orders.js'
import { findLinkCampaigns } from '../../storage/storefront/short-links.js'
import { campaignsOf, codesOf, findAttribution } from './attribution.js'
import { presentAttributed } from './revenue.js'

const DAY_MS = 86_400_000

/** The revenue of the groups of a range: in total, each order once, and per group by its index. */
export interface RevenueOfGroups {
  all: RangeRevenue
  of(place: number): RangeRevenue
}

/**
 * The revenue of what was sent since a day; `groups`: the ids of the broadcasts and of the days of one-off sends that
 * are counted together. Orders in other currencies are left out. `isRecount`: looks at every order separately.
 */
export async function findRangeRevenue(
  ctx: Pick<Context, 'database' | 'clock' | 'channelNames'>,
  organization: Organization,
  groups: readonly (readonly string[])[],
  { from, isRecount = false }: Pick<DateRange, 'from'> & { isRecount?: boolean },
): Promise<RevenueOfGroups> {
  const { id, currency } = organization
  const ids = groups.flatMap((members, place) => members.map((member) => ({ place, id: member })))
  const places = await findPlaces(ctx, organization, ids)
  const campaigns = [...new Set(places.map(({ campaign }) => campaign))]
  if (campaigns.length === 0) return presenterOf(organization, [], [])
  // One day more covers every time zone.
  const since = new Date(Date.parse(from) - DAY_MS)
  const span = { from: since, to: ctx.clock() }
  const attribution = await findAttribution(ctx, organization, campaigns, { ...span, isRecount })
  const [sums, byPlace, attributed] = await Promise.all([
    sumStorefrontOrders(ctx.database, id, attribution),
    sumOrdersByPlace(ctx.database, id, attribution, { currency, places }),
    sumAttributedByPlace(ctx.database, id, attribution, { from: since, currency, places: ids }),
  ])
  const all = sums.filter((sum) => sum.currency === currency && sum.campaign === null)
  return presenterOf(organization, [...byPlace, ...all.map((sum) => ({ ...sum, place: null }))], attributed)
}

/** The campaigns of each group; none if no storefront is connected. */
async function findPlaces(
  { database }: Pick<Context, 'database'>,
  { id: organizationId }: Organization,
  ids: readonly { place: number; id: string }[],
): Promise<{ place: number; campaign: string }[]> {
  if (ids.length === 0 || (await findStorefrontSettings(database, organizationId)) === null) return []
  const placeOf = new Map(ids.map(({ place, id }) => [id, place]))
  const sent = await listSentCampaigns(database, organizationId, [...placeOf.keys()])
  const links = await findLinkCampaigns(database, organizationId, [...new Set(sent.flatMap(codesOf))])
  const found = new Map<number, Set<string>>()
  for (const one of sent) {
    const place = placeOf.get(one.id) ?? 0
    found.set(place, new Set([...(found.get(place) ?? []), ...campaignsOf(one, links)]))
  }
  return [...found].flatMap(([place, campaigns]) => Array.from(campaigns, (campaign) => ({ place, campaign })))
}

function presenterOf(
  organization: Organization,
  sums: readonly PlaceSum[],
  attributed: readonly PlaceSum[],
): RevenueOfGroups {
  const [sumOf, dueTo] = [byPlace(sums), byPlace(attributed)]
  const present = (place: number | null): RangeRevenue => {
    const { revenue: totalRevenue, orderCount, avgOrderValue } = sumOf.get(place) ?? NOTHING
    const { currency } = organization
    const due = presentAttributed(organization, dueTo.get(place) ?? null)
    return { totalRevenue, orderCount, avgOrderValue, currency, attributed: due }
  }
  return { all: present(null), of: present }
}

const NOTHING = { revenue: 0, orderCount: 0, avgOrderValue: 0 }

function byPlace(sums: readonly PlaceSum[]): Map<number | null, PlaceSum> {
  return new Map(sums.map((sum) => [sum.place, sum]))
}
