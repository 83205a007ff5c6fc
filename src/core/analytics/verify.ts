import type { OperatorContext } from '../../context.js'
import type { Organization } from '../../model/organization.js'
import { Problem } from '../../model/problem.js'
import { type Drift, findCampaign, findCampaignDrift, listAllCampaigns } from '../../storage/analytics.js'

/** A counter of a campaign that is not what the campaign's recipients and messages say. */
export interface CampaignDrift extends Drift {
  campaignId: string
  name: string
}

/** What a recount has come to. */
export interface Verification {
  campaigns: number
  drifts: CampaignDrift[]
}

/**
 * Counts the recipients of every campaign of the organization anew, or those of one: a broadcast, or the send-templates among
 * which the one with this broadcastId is. Each campaign is counted in one snapshot, so it may be sent meanwhile. Throws
 * broadcast_not_found.
 */
export async function verifyCounters(
  ctx: Pick<OperatorContext, 'database'>,
  { id: organizationId }: Organization,
  broadcastId?: string,
): Promise<Verification> {
  const campaigns =
    broadcastId === undefined
      ? await listAllCampaigns(ctx.database, organizationId)
      : [(await findCampaign(ctx.database, organizationId, broadcastId)) ?? notFound(broadcastId)]
  const drifts: CampaignDrift[] = []
  for (const { id, name } of campaigns) {
    const found = await findCampaignDrift(ctx.database, organizationId, id)
    drifts.push(...found.map((drift) => ({ campaignId: id, name, ...drift })))
  }
  return { campaigns: campaigns.length, drifts }
}

function notFound(broadcastId: string): never {
  throw new Problem('broadcast_not_found', `There is no broadcast with the id ${broadcastId}`)
}
