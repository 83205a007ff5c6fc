import type { Context } from '../context.js'
import type { Organization } from '../model/organization.js'
import { readShortCode } from '../model/short-link.js'
import { campaignVariants, foldUtm } from '../model/utm.js'
import {
  type Attribution,
  type BroadcastSending,
  listBroadcastSendings,
  type Sending,
  type SentCampaigns,
  type Span,
} from '../storage/attribution.js'
import { findLinkCampaigns } from '../storage/short-links.js'

const DAY_MS = 86_400_000

/**
 * What the orders of folded campaigns are attributed by: the broadcasts that may have led to an order between the ends of `span`.
 * Each order is due to one broadcast or send-template at most: the last one whose own link its buyer followed, else the last one
 * that the buyer was sent, else the last one of its campaign.
 */
export async function findAttribution(
  ctx: Pick<Context, 'database' | 'channelNames'>,
  { id, attribution_window_days: windowDays }: Organization,
  campaigns: readonly string[],
  { from, to }: Span,
): Promise<Attribution> {
  const reach = { from: new Date(from.getTime() - windowDays * DAY_MS), to }
  const broadcasts = await listBroadcastSendings(ctx.database, id, reach)
  const codes = [...new Set(broadcasts.flatMap(codesOf))]
  const links = await findLinkCampaigns(ctx.database, id, codes)
  const wanted = new Set(campaigns)
  const sendings = broadcasts.flatMap((broadcast) => toSendings(broadcast, links))
  return {
    campaigns,
    sources: ctx.channelNames,
    sendings: sendings.filter(({ campaign }) => wanted.has(campaign)),
    windowDays,
  }
}

/** When orders may have been placed that are due to what was sent between the ends of `sent`. */
export function ordersAfter({ from, to }: Span, { attribution_window_days: days }: Organization): Span {
  // What was accepted is heard of a little later; and shops tell whole seconds.
  return { from: new Date(from.getTime() - 1_000), to: new Date(to.getTime() + (days + 1) * DAY_MS) }
}

function toSendings(broadcast: BroadcastSending, links: ReadonlyMap<string, string>): Sending[] {
  return Array.from(campaignsOf(broadcast, links), (campaign) => ({
    campaign,
    broadcastId: broadcast.id,
    startedAt: broadcast.started_at,
  }))
}

/** The campaigns of what was sent, folded and with each suffix; `links`: those of its links by their codes. */
export function campaignsOf(sent: SentCampaigns, links: ReadonlyMap<string, string>): Set<string> {
  const linked = codesOf(sent).flatMap((code) => links.get(code) ?? [])
  return new Set([...linked, ...sent.utm_campaigns].flatMap(campaignVariants).map(foldUtm))
}

/** What may be codes of links in the buttons of what was sent. */
export function codesOf({ buttons }: SentCampaigns): string[] {
  return Object.values(buttons ?? {})
    .map(readShortCode)
    .filter((code) => code !== null)
}
