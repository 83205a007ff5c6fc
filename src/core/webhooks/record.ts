import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { newId } from '../../lib/id.js'
import type { EventRow } from '../../model/event.js'
import {
  type DueDelivery,
  insertDeliveries,
  type NewDelivery,
  promoteWaiting,
  recordAttempts,
} from '../../storage/webhook-deliveries.js'
import { type HeldFeed, lockFeeds, moveFeeds } from '../../storage/webhook-feeds.js'
import { disableWebhook, noteFailingSince } from '../../storage/webhook-health.js'
import type { EndedAttempt } from './attempt.js'
import { type Health, healthAfter } from './health.js'

/** What the dispatcher has to write down at a time. */
export interface Round {
  ended: readonly EndedAttempt[]
  /** New deliveries, each with its event, in the order of the events. */
  deliveries: readonly (readonly [NewDelivery, EventRow])[]
  /** How far the events of these organizations have thereby been read. */
  feeds: readonly HeldFeed[]
  /** How the endpoint of an attempt was before. */
  healthOf: (attempt: EndedAttempt) => Health
}

/** What came of it. */
export interface Recorded {
  /** What may be attempted now. */
  due: DueDelivery[]
  /** How the endpoints of the attempts are now, by webhook id. */
  health: Map<string, Health>
  /** Organizations that this process does not hold any more: of these only the attempts have been recorded. */
  lost: string[]
}

/** Writes a round down, in one transaction that has the organizations locked. */
export async function recordRound(
  ctx: Pick<Context, 'database' | 'clock' | 'processId'>,
  round: Round,
): Promise<Recorded> {
  const now = ctx.clock()
  const organizationIds = new Set([
    ...round.feeds.map(({ organizationId }) => organizationId),
    ...round.ended.map(({ result }) => result.organization_id),
  ])
  return ctx.database.transaction(async (transaction) => {
    const held = await lockFeeds(transaction, ctx.processId, [...organizationIds])
    const health = await recordHealth(transaction, round, (organizationId) => held.has(organizationId))
    const due = [
      ...(await recordEnded(transaction, round, now)),
      ...(await insertFresh(transaction, round, (organizationId) => held.has(organizationId), now)),
    ]
    return { due, health, lost: [...organizationIds].filter((id) => !held.has(id)) }
  })
}

async function recordEnded(transaction: Queryable, { ended }: Round, now: Date): Promise<DueDelivery[]> {
  if (ended.length === 0) return []
  await recordAttempts(
    transaction,
    ended.map(({ result }) => result),
    now,
  )
  const over = ended.flatMap(({ result }) => (result.status === 'pending' ? [] : [result]))
  return over.length > 0 ? promoteWaiting(transaction, over, now) : []
}

async function insertFresh(
  transaction: Queryable,
  { feeds, deliveries }: Round,
  isHeld: (organizationId: string) => boolean,
  now: Date,
): Promise<DueDelivery[]> {
  const moved = feeds.filter(({ organizationId }) => isHeld(organizationId))
  if (moved.length > 0) await moveFeeds(transaction, moved)
  const fresh = deliveries.filter(([{ organization_id }]) => isHeld(organization_id))
  if (fresh.length === 0) return []
  const rows = fresh.map(([delivery]) => delivery)
  const due = await insertDeliveries(transaction, rows, now)
  return fresh.flatMap(([{ organization_id, id, webhook_id }, event]) =>
    due.has(id) ? [{ organization_id, id, webhook_id, attempted: 0, event }] : [],
  )
}

/**
 * Most attempts succeed at an endpoint that did so before, and change nothing. How the endpoints of an organization that is lost were
 * before, only the process knows that holds it now: its own attempts tell it the rest.
 */
async function recordHealth(
  transaction: Queryable,
  { ended, healthOf }: Round,
  isHeld: (organizationId: string) => boolean,
): Promise<Map<string, Health>> {
  const health = new Map<string, Health>()
  const changed = new Map<string, EndedAttempt>()
  for (const attempt of ended) {
    if (attempt.sign === null || !isHeld(attempt.result.organization_id)) continue
    const before = health.get(attempt.webhookId) ?? healthOf(attempt)
    const after = healthAfter(before, attempt.sign)
    health.set(attempt.webhookId, after)
    if (after.failingSince?.getTime() !== before.failingSince?.getTime() || after.disabledReason !== null) {
      changed.set(attempt.webhookId, attempt)
    }
  }
  for (const [webhookId, { result }] of changed) {
    const { failingSince, disabledReason } = health.get(webhookId) as Health
    await noteFailingSince(transaction, result.organization_id, webhookId, failingSince)
    if (disabledReason !== null) {
      await disableWebhook(transaction, result.organization_id, webhookId, disabledReason, newId())
    }
  }
  return health
}
