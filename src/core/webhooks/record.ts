import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { newId } from '../../lib/bytes/id.js'
import type { EventRow } from '../../model/webhooks/event.js'
import {
  type ClaimedDelivery,
  claimDeliveries,
  insertDeliveries,
  type Lane,
  type NewDelivery,
  promoteWaiting,
  recordAttempts,
} from '../../storage/webhooks/deliveries.js'
import { listFeeds, lockFeeds, moveFeeds } from '../../storage/webhooks/feeds.js'
import { disableWebhook, lockHealth, noteFailingSince } from '../../storage/webhooks/health.js'
import type { EndedAttempt } from './attempt.js'
import { isSamePosition, type NewEvents } from './fan-out.js'
import { type Health, healthAfter } from './health.js'

/** New events of an organization, and the deliveries that they create, in the order of the events. */
export interface FannedEvents extends NewEvents {
  deliveries: readonly FreshDelivery[]
}

export interface FreshDelivery {
  delivery: NewDelivery
  event: EventRow
  /** This process has a place for it. */
  claim: boolean
}

/** What a process writes in one round. */
export interface Round {
  /** Finished attempts, and whether this process has a place for the next delivery of the same contact. */
  ended: readonly { attempt: EndedAttempt; claim: boolean }[]
  fanned: readonly FannedEvents[]
  /** Which due deliveries to claim besides. */
  planLanes: (became: Became) => Lane[]
  /** The webhooks that have only failed, as far as this process knows. */
  isFailing: (webhookId: string) => boolean
}

/** Deliveries that have become due. */
export interface Became {
  /** Claimed by this process. */
  claimed: ClaimedDelivery[]
  /** Claimed by no process. */
  unclaimed: { organization_id: string; webhook_id: string }[]
}

export interface Recorded {
  /** Deliveries that this process has claimed. */
  claimed: ClaimedDelivery[]
  lanes: Lane[]
  /** Webhooks that have no more due deliveries to claim. */
  emptied: string[]
  disabled: { organization_id: string; id: string; reason: string }[]
  /** Organizations that another transaction has locked; nothing of them is written. */
  locked: Set<string>
  /** Organizations whose events another process has read further; no events of them are written. */
  outdated: Set<string>
}

type RecordContext = Pick<Context, 'database' | 'clock' | 'processId'>

/**
 * Writes a round in one transaction, with the feeds locked: records finished attempts, makes the next deliveries of
 * their contacts due, inserts deliveries for new events, and claims due ones.
 */
export async function recordRound(ctx: RecordContext, round: Round): Promise<Recorded> {
  const now = ctx.clock()
  return ctx.database.transaction(async (transaction) => {
    const { isLocked, locked, outdated } = await lock(transaction, round)
    const ended = round.ended.filter(({ attempt }) => isLocked(attempt.result.organization_id))
    const fanned = round.fanned.filter(
      ({ organizationId }) => isLocked(organizationId) && !outdated.has(organizationId),
    )
    const became: Became = { claimed: [], unclaimed: [] }
    if (ended.length > 0) await recordEnded(transaction, ctx.processId, ended, now, became)
    const disabled = await recordHealth(transaction, ended, round.isFailing)
    if (fanned.length > 0) await insertFresh(transaction, ctx.processId, fanned, now, became)
    const lanes = round.planLanes(became)
    const claimed = lanes.length > 0 ? await claimDeliveries(transaction, ctx.processId, lanes, now) : []
    const emptied = lanes.flatMap(({ webhook_id, room }) =>
      claimed.filter((delivery) => delivery.webhook_id === webhook_id).length < room ? [webhook_id] : [],
    )
    return { claimed: [...became.claimed, ...claimed], lanes, emptied, disabled, locked, outdated }
  })
}

/** An organization without a feed has no webhooks any more. */
async function lock(transaction: Queryable, { ended, fanned }: Round) {
  const ids = new Set([
    ...ended.map(({ attempt }) => attempt.result.organization_id),
    ...fanned.map(({ organizationId }) => organizationId),
  ])
  const positions = ids.size > 0 ? await lockFeeds(transaction, [...ids]) : new Map()
  const missing = [...ids].filter((id) => !positions.has(id))
  const locked = new Set(missing.length > 0 ? (await listFeeds(transaction, missing)).keys() : [])
  const outdated = new Set(
    fanned.flatMap(({ organizationId, stored }) => {
      const position = positions.get(organizationId)
      return position && !isSamePosition(position, stored) ? [organizationId] : []
    }),
  )
  return { isLocked: (id: string) => positions.has(id), locked, outdated }
}

async function recordEnded(
  transaction: Queryable,
  processId: number,
  ended: Round['ended'],
  now: Date,
  { claimed, unclaimed }: Became,
): Promise<void> {
  const results = ended.map(({ attempt }) => attempt.result)
  await recordAttempts(transaction, processId, results, now)
  const over = ended.flatMap(({ attempt: { result }, claim }) =>
    result.status === 'pending' ? [] : [{ organization_id: result.organization_id, id: result.id, claim }],
  )
  if (over.length === 0) return
  for (const { is_claimed, ...delivery } of await promoteWaiting(transaction, processId, over, now)) {
    if (is_claimed) claimed.push(delivery)
    else unclaimed.push(delivery)
  }
}

async function insertFresh(
  transaction: Queryable,
  processId: number,
  fanned: readonly FannedEvents[],
  now: Date,
  { claimed, unclaimed }: Became,
): Promise<void> {
  await moveFeeds(
    transaction,
    fanned.map(({ organizationId, next }) => ({ organizationId, ...next })),
  )
  const fresh = fanned.flatMap(({ deliveries }) => deliveries)
  if (fresh.length === 0) return
  const rows = fresh.map(({ delivery, claim }) => ({ ...delivery, claim }))
  const due = await insertDeliveries(transaction, processId, rows, now)
  for (const { delivery, event } of fresh) {
    const isClaimed = due.get(delivery.id)
    const { organization_id, id, webhook_id } = delivery
    if (isClaimed) claimed.push({ organization_id, id, webhook_id, attempted: 0, event })
    else if (isClaimed === false) unclaimed.push(delivery)
  }
}

/** Most attempts succeed at a healthy endpoint and change nothing. */
async function recordHealth(
  transaction: Queryable,
  ended: Round['ended'],
  isFailing: Round['isFailing'],
): Promise<Recorded['disabled']> {
  const samples = ended.flatMap(({ attempt: { result, webhookId, sample } }) =>
    sample === null ? [] : [{ organization_id: result.organization_id, id: webhookId, sample }],
  )
  const concerned = samples.filter(({ id, sample }) => !sample.delivered || isFailing(id))
  if (concerned.length === 0) return []
  const webhooks = new Map(concerned.map(({ organization_id, id }) => [id, { organization_id, id }]))
  const before = await lockHealth(transaction, [...webhooks.values()])
  const after = new Map<string, Health>(
    Array.from(before, ([id, failingSince]) => [id, { failingSince, disabledReason: null }]),
  )
  for (const { id, sample } of samples) {
    const health = after.get(id)
    if (health) after.set(id, healthAfter(health, sample))
  }
  const known = [...webhooks.values()].filter(({ id }) => after.has(id))
  await noteFailingSince(
    transaction,
    known.map((webhook) => ({ ...webhook, failing_since: after.get(webhook.id)?.failingSince ?? null })),
  )
  const disabled = known.flatMap((webhook) => {
    const reason = after.get(webhook.id)?.disabledReason
    return reason ? [{ ...webhook, reason }] : []
  })
  for (const { organization_id, id, reason } of disabled)
    await disableWebhook(transaction, organization_id, id, reason, newId())
  return disabled
}
