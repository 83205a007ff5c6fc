import type { Context } from '../../context.js'
import {
  type Campaign,
  type DateRange,
  type MeasuredBroadcast,
  presentAnalytics,
  presentBroadcastAnalytics,
} from '../../model/broadcasts/analytics.js'
import { countRecipients } from '../../model/broadcasts/broadcast.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import {
  type BroadcastRow,
  type CampaignRow,
  findErrorTexts,
  findMeasuredBroadcast,
  listStartedCampaigns,
  type Sums,
  sumCampaignCounts,
} from '../../storage/analytics/analytics.js'
import type { Span } from '../../storage/analytics/attribution.js'
import { findRangeRevenue } from './range-revenue.js'
import { findRevenue } from './revenue.js'

/** The analytics of one broadcast, or of one one-off send by its broadcastId. Throws broadcast_not_found. */
export async function readBroadcastAnalytics(
  ctx: Pick<Context, 'database' | 'clock' | 'channelNames'>,
  organization: Organization,
  broadcastId: string,
) {
  const broadcast = await findMeasuredBroadcast(ctx.database, organization.id, broadcastId)
  if (!broadcast) throw new Problem('broadcast_not_found', `There is no broadcast with the id ${broadcastId}`)
  const revenue = await findRevenue(ctx, organization, {
    // Any button parameter may be a short code; other values match no link.
    codes: Object.values(broadcast.parameters?.buttons ?? {}),
    campaigns: broadcast.utm_campaigns,
    broadcastId,
    sent: sentIn(broadcast, ctx.clock()),
  })
  return { ...presentBroadcastAnalytics(toMeasured(broadcast)), revenue }
}

/** The analytics of all campaigns that started in a range of days. */
export async function readAnalytics(
  ctx: Pick<Context, 'database' | 'clock' | 'channelNames'>,
  organization: Organization,
  range: DateRange,
) {
  const { id, timezone } = organization
  const started = await listStartedCampaigns(ctx.database, id, range, timezone)
  const { sums, errors } = await sumCampaignCounts(
    ctx.database,
    id,
    started.map((campaign) => campaign.id),
  )
  const texts = await findErrorTexts(ctx.database, id, [...errors.keys()])
  const errorCounts = Array.from(errors, ([code, count]) => ({ code, count, text: texts.get(code) ?? null }))
  const groups = toGroups(started, sums)
  const revenue = await findRangeRevenue(
    ctx,
    organization,
    groups.map(({ ids }) => ids),
    range,
  )
  const campaigns = groups.map(({ ids: _ids, ...group }, place) => ({ ...group, revenue: revenue.of(place) }))
  return presentAnalytics(range, campaigns, errorCounts, revenue.all)
}

/** From the first message to the last. A broadcast that has not ended may still be sending. */
function sentIn({ started_at: from, completed_at: to }: BroadcastRow, now: Date): Span | null {
  return from === null ? null : { from, to: to ?? now }
}

function toMeasured({ status, counters, clicks, ...broadcast }: BroadcastRow): MeasuredBroadcast {
  const { total } = countRecipients({ status, counters })
  const { sent = 0, delivered = 0, read = 0, failed = 0, clicked = 0, opted_out = 0 } = counters
  return {
    ...broadcast,
    counts: { total, sent, delivered, read, failed, clicked, opted_out },
    clicks: new Map(Object.entries(clicks ?? {})),
  }
}

/** A campaign and the ids of the rows that it counts. */
type Group = Omit<Campaign, 'revenue'> & { ids: string[] }

/** The one-off sends of one template on one day are one campaign, in all languages. */
function toGroups(started: readonly CampaignRow[], sums: ReadonlyMap<string, Sums>): Group[] {
  const campaigns: Group[] = []
  const singles = new Map<string, Group>()
  for (const row of started) {
    const counted = sums.get(row.id)
    // Created for a one-off send that was refused.
    if (row.kind === 'singles' && counted === undefined) continue
    const campaign = toCampaign(row, counted ?? NOTHING)
    const key = `${row.day} ${row.template_name}`
    const same = row.kind === 'singles' ? singles.get(key) : undefined
    if (same) {
      addTo(same, campaign)
      continue
    }
    campaigns.push(campaign)
    if (row.kind === 'singles') singles.set(key, campaign)
  }
  return campaigns
}

const NOTHING: Sums = { total: 0, recorded: 0, sent: 0, delivered: 0, read: 0, failed: 0 }

function toCampaign({ id, kind, name, template_name, status, created_at, day }: CampaignRow, sums: Sums): Group {
  const { total } = countRecipients({ status, counters: sums })
  const { sent, delivered, read, failed } = sums
  const isBroadcast = kind === 'broadcast'
  return {
    ids: [id],
    id: isBroadcast ? id : null,
    name: isBroadcast ? name : template_name,
    template_name,
    created_at,
    day,
    counts: { total, sent, delivered, read, failed },
  }
}

/** Rows come newest first, so the other row is older or equally old. */
function addTo(campaign: Group, { ids, created_at, counts }: Group): void {
  campaign.ids.push(...ids)
  campaign.created_at = created_at
  for (const name of ['total', 'sent', 'delivered', 'read', 'failed'] as const) campaign.counts[name] += counts[name]
}
