import type { Context } from '../../context.js'
import { readShortCode } from '../../model/broadcasts/short-link.js'
import { campaignVariants, normalizeUtm } from '../../model/broadcasts/utm.js'
import type { Organization } from '../../model/organizations/organization.js'
import {
  type Attribution,
  type BroadcastSending,
  listBroadcastSendings,
  type Sendings,
  type SentCampaigns,
  type Span,
} from '../../storage/analytics/attribution.js'
import { findLinkCampaigns } from '../../storage/storefront/short-links.js'

const DAY_MS = 86_400_000
/** When a broadcast is cancelled, some of its messages are in flight; after this time each has an outcome. */
const OUTCOME_TIMEOUT_MS = 15 * 60_000

/**
 * Finds the data for attributing the orders of normalized campaigns: the broadcasts that may have led to an order
 * between `from` and `to`. Each order is attributed to at most one broadcast or one-off send: the last one whose own
 * link its buyer followed, else the last one sent to the buyer, else the last one of its campaign. `isRecount`: looks
 * up the messages of every order's buyer.
 */
export async function findAttribution(
  ctx: Pick<Context, 'database' | 'channelNames'>,
  { id, attribution_window_days: windowDays }: Organization,
  campaigns: readonly string[],
  { from, to, isRecount = false }: Span & { isRecount?: boolean },
): Promise<Attribution> {
  const reach = { from: new Date(from.getTime() - windowDays * DAY_MS), to }
  const broadcasts = await listBroadcastSendings(ctx.database, id, reach)
  const codes = [...new Set(broadcasts.flatMap(codesOf))]
  const links = await findLinkCampaigns(ctx.database, id, codes)
  const requested = new Set(campaigns)
  const byCampaign = new Map<string, BroadcastSending[]>()
  for (const broadcast of broadcasts) {
    for (const campaign of campaignsOf(broadcast, links)) {
      if (!requested.has(campaign)) continue
      const sent = byCampaign.get(campaign)
      if (sent) sent.push(broadcast)
      else byCampaign.set(campaign, [broadcast])
    }
  }
  const sendings = Array.from(byCampaign, ([campaign, sent]) =>
    toSendings(campaign, sent, isRecount ? ALWAYS_LOOKED_UP : findPlainSpans(sent, windowDays * DAY_MS)),
  )
  return { campaigns, sources: ctx.channelNames, sendings, windowDays }
}

/** When orders may be placed that are attributed to messages sent between the ends of `sent`. */
export function ordersAfter({ from, to }: Span, { attribution_window_days: days }: Organization): Span {
  // The upstream reports acceptance a little later, and shops report whole seconds.
  return { from: new Date(from.getTime() - 1_000), to: new Date(to.getTime() + (days + 1) * DAY_MS) }
}

type PlainSpans = Pick<Sendings, 'bounds' | 'plain' | 'due'>

const ALWAYS_LOOKED_UP: PlainSpans = { bounds: [new Date(0)], plain: [false], due: [null] }

function toSendings(campaign: string, broadcasts: readonly BroadcastSending[], spans: PlainSpans): Sendings {
  const latestFirst = broadcasts.toSorted(
    (one, other) => other.started_at.getTime() - one.started_at.getTime() || (one.id < other.id ? 1 : -1),
  )
  const ids = latestFirst.map(({ id }) => id)
  const starts = latestFirst.map(({ started_at }) => started_at)
  return { campaign, ids, starts, ...spans }
}

/** A broadcast, from its start until all its messages have certainly been accepted, if at all. */
interface Sent {
  id: string
  start: number
  end: number
}

/**
 * The periods in which an order is attributed to the same broadcast for every buyer, because only this broadcast can
 * have reached buyers within the window, and all its messages had been sent.
 */
function findPlainSpans(broadcasts: readonly BroadcastSending[], windowMs: number): PlainSpans {
  const sent: Sent[] = broadcasts.map(({ id, started_at, completed_at }) => ({
    id,
    start: started_at.getTime(),
    end: completed_at === null ? Number.POSITIVE_INFINITY : completed_at.getTime() + OUTCOME_TIMEOUT_MS,
  }))
  const times = sent.flatMap(({ start, end }) => [start, end, start + windowMs, end + windowMs])
  const bounds = [...new Set(times.filter(Number.isFinite))].sort((one, other) => one - other)
  const spans = sweep(sent, windowMs, bounds)
  return {
    bounds: bounds.map((at) => new Date(at)),
    plain: spans.map(({ plain }) => plain),
    due: spans.map(({ due }) => due),
  }
}

/**
 * For the period that starts at each bound: whether all its orders are attributed to the same broadcast for every
 * buyer, and to which one, if any. `bounds`: ascending.
 */
function sweep(sent: readonly Sent[], windowMs: number, bounds: readonly number[]) {
  const starting = sent.toSorted((one, other) => other.start - one.start)
  const leaving = sent.toSorted((one, other) => other.end - one.end)
  const within = new Set<Sent>()
  return bounds.map((at) => {
    for (let next = starting.at(-1); next && next.start <= at; next = starting.at(-1)) {
      within.add(next)
      starting.pop()
    }
    for (let next = leaving.at(-1); next && next.end + windowMs <= at; next = leaving.at(-1)) {
      within.delete(next)
      leaving.pop()
    }
    const [one] = within
    if (one === undefined) return { plain: true, due: null }
    const isPlain = within.size === 1 && one.end <= at && at < one.start + windowMs
    return { plain: isPlain, due: isPlain ? one.id : null }
  })
}

/**
 * The normalized campaigns of what was sent, with each suffix; `links`: the campaigns of its short links by their
 * codes.
 */
export function campaignsOf(sent: SentCampaigns, links: ReadonlyMap<string, string>): Set<string> {
  const linked = codesOf(sent).flatMap((code) => links.get(code) ?? [])
  return new Set([...linked, ...sent.utm_campaigns].flatMap(campaignVariants).map(normalizeUtm))
}

/** The possible short link codes in the buttons of what was sent. */
export function codesOf({ buttons }: SentCampaigns): string[] {
  return Object.values(buttons ?? {})
    .map(readShortCode)
    .filter((code) => code !== null)
}
