import type { Context } from '../../context.js'
import type { RangeRevenue } from '../../model/broadcasts/revenue.js'
import type { Organization } from '../../model/organizations/organization.js'
import {
  type CampaignName,
  type Drift,
  findCampaignDrift,
  listAllCampaigns,
} from '../../storage/analytics/analytics.js'
import { findRangeRevenue } from './range-revenue.js'
import { readBroadcastAnalytics } from './read.js'

/** A figure of a campaign that differs from its recount. */
export interface CampaignDrift extends Drift {
  campaignId: string
  name: string
}

/** The result of a recount. */
export interface Verification {
  campaigns: number
  drifts: CampaignDrift[]
}

/**
 * Counts the recipients of every campaign of the organization again. Also computes the revenue from each order
 * separately and compares it with what the analytics show. Each campaign is counted in one snapshot, so it may be
 * sending.
 */
export async function verifyCounters(ctx: RevenueContext, organization: Organization): Promise<Verification> {
  const { id: organizationId } = organization
  const campaigns = await listAllCampaigns(ctx.database, organizationId)
  const drifts: CampaignDrift[] = []
  for (const { id, name } of campaigns) {
    const found = await findCampaignDrift(ctx.database, organizationId, id)
    drifts.push(...found.map((drift) => ({ campaignId: id, name, ...drift })))
  }
  const suspects = new Set((await compareRevenue(ctx, organization, campaigns)).map(({ campaignId }) => campaignId))
  // An order may have arrived between the two sums.
  for (const campaign of campaigns.filter(({ id }) => suspects.has(id))) {
    drifts.push(...(await compareRevenue(ctx, organization, [campaign])))
  }
  return { campaigns: campaigns.length, drifts }
}

/** Before anything was sent. */
const EVER = '1970-01-02'

type RevenueContext = Pick<Context, 'database' | 'clock' | 'channelNames'>

/** The revenue figures of campaigns that differ from their parts of all orders. */
async function compareRevenue(
  ctx: RevenueContext,
  organization: Organization,
  campaigns: readonly CampaignName[],
): Promise<CampaignDrift[]> {
  const recounted = await findRangeRevenue(
    ctx,
    organization,
    campaigns.map(({ id }) => [id]),
    { from: EVER, isRecount: true },
  )
  const drifts: CampaignDrift[] = []
  for (const [place, campaign] of campaigns.entries()) {
    const revenue = await readRevenue(ctx, organization, campaign)
    const again = recounted.of(place)
    const figures: [string, number, number][] = [
      ['revenue', revenue.totalRevenue, again.totalRevenue],
      ['orders', revenue.orderCount, again.orderCount],
      ['attributed revenue', revenue.attributed.totalRevenue, again.attributed.totalRevenue],
      ['attributed orders', revenue.attributed.orderCount, again.attributed.orderCount],
    ]
    const wrong = figures.filter(([, figure, sum]) => figure !== sum)
    drifts.push(...wrong.map(([counter, counted, sum]) => toDrift(campaign, counter, counted, sum)))
  }
  return drifts
}

/** The revenue as the analytics show it: of a broadcast, or of the one-off sends of a day. */
async function readRevenue(
  ctx: RevenueContext,
  organization: Organization,
  { id, day }: CampaignName,
): Promise<RangeRevenue> {
  if (day === null) return (await readBroadcastAnalytics(ctx, organization, id)).revenue
  return (await findRangeRevenue(ctx, organization, [[id]], { from: day })).of(0)
}

function toDrift({ id, name }: CampaignName, counter: string, counted: number, recounted: number): CampaignDrift {
  return { campaignId: id, name, counter, detail: '', counted, recounted }
}
