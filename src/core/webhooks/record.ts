import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { newId } from '../../lib/bytes/id.js'
import type { EventRow } from '../../model/webhooks/event.js'
import type { EventPosition } from '../../storage/events/events.js'
import {
  type DueDelivery,
  insertDeliveries,
  type NewDelivery,
  promoteWaiting,
  recordAttempts,
} from '../../storage/webhooks/deliveries.js'
import { lockFeed, lockFeeds, moveFeeds } from '../../storage/webhooks/feeds.js'
import { disableWebhook, noteFailingSince } from '../../storage/webhooks/health.js'
import type { EndedAttempt } from './attempt.js'
import { type Health, healthAfter } from './health.js'

/** What the dispatcher writes in one round. */
export interface Round {
  ended: readonly EndedAttempt[]
  /** New deliveries, each with its event, in the order of the events. */
  deliveries: readonly (readonly [NewDelivery, EventRow])[]
  /** How far the events of these organizations have been read, and the position that the database should have. */
  feeds: readonly { organizationId: string; stored: EventPosition; next: EventPosition }[]
  /** True if this process should own the feed. */
  owns: (organizationId: string) => boolean
  /** The endpoint's health before an attempt. */
  healthOf: (attempt: EndedAttempt) => Health
}

export interface Recorded {
  /** Deliveries that may be attempted now. */
  due: DueDelivery[]
  /** The endpoints' health after the attempts, by webhook id. */
  health: Map<string, Health>
  /** Organizations whose feed this process no longer owns; only their attempts are recorded. */
  lost: Set<string>
  /** Organizations that another process has locked; nothing of them is recorded. */
  postponed: Set<string>
  /** Organizations whose events were already read further; only their attempts are recorded. */
  outdated: Set<string>
}

/** Writes a round in one transaction, with the feeds locked. */
export async function recordRound(
  ctx: Pick<Context, 'database' | 'clock' | 'processId'>,
  round: Round,
): Promise<Recorded> {
  const now = ctx.clock()
  return ctx.database.transaction(async (transaction) => {
    const { owned, lost, postponed, outdated } = await lock(transaction, ctx.processId, round)
    const isCurrent = (organizationId: string) => owned.has(organizationId) && !outdated.has(organizationId)
    const ended = round.ended.filter(({ result }) => !postponed.has(result.organization_id))
    const health = await recordHealth(transaction, ended, round.healthOf, owned)
    const due = [
      ...(await recordEnded(transaction, ended, now)),
      ...(await insertFresh(transaction, round, isCurrent, now)),
    ]
    return { due, health, lost, postponed, outdated }
  })
}

/**
 * If this process has lost a feed, it still waits for the lock: recording its attempts may make deliveries due for the
 * new owner.
 */
async function lock(transaction: Queryable, processId: number, { feeds, ended, owns }: Round) {
  const ids = new Set([
    ...feeds.map(({ organizationId }) => organizationId),
    ...ended.map(({ result }) => result.organization_id),
  ])
  const locked = await lockFeeds(transaction, processId, [...ids])
  const postponed = new Set([...ids].filter((id) => !locked.has(id) && owns(id)))
  const owned = new Set([...ids].filter((id) => locked.get(id)?.isOwned))
  const outdated = new Set(
    feeds.flatMap(({ organizationId, stored }) => {
      const position = locked.get(organizationId)?.position
      return position && !isSamePosition(position, stored) ? [organizationId] : []
    }),
  )
  const lost = new Set([...ids].filter((id) => !owned.has(id) && !postponed.has(id)))
  for (const id of lost) if (!locked.has(id)) await lockFeed(transaction, id)
  return { owned, lost, postponed, outdated }
}

function isSamePosition(one: EventPosition, other: EventPosition): boolean {
  return one.windowFrom === other.windowFrom && one.windowTo === other.windowTo && one.seq === other.seq
}

async function recordEnded(transaction: Queryable, ended: readonly EndedAttempt[], now: Date): Promise<DueDelivery[]> {
  if (ended.length === 0) return []
  const results = ended.map(({ result }) => result)
  await recordAttempts(transaction, results, now)
  const over = results.filter(({ status }) => status !== 'pending')
  return over.length > 0 ? promoteWaiting(transaction, over, now) : []
}

async function insertFresh(
  transaction: Queryable,
  { feeds, deliveries }: Round,
  isCurrent: (organizationId: string) => boolean,
  now: Date,
): Promise<DueDelivery[]> {
  const moved = feeds.filter(({ organizationId }) => isCurrent(organizationId))
  if (moved.length > 0)
    await moveFeeds(
      transaction,
      moved.map(({ organizationId, next }) => ({ organizationId, ...next })),
    )
  const fresh = deliveries.filter(([{ organization_id }]) => isCurrent(organization_id))
  if (fresh.length === 0) return []
  const rows = fresh.map(([delivery]) => delivery)
  const due = await insertDeliveries(transaction, rows, now)
  return fresh.flatMap(([{ organization_id, id, webhook_id }, event]) =>
    due.has(id) ? [{ organization_id, id, webhook_id, attempted: 0, event }] : [],
  )
}

/**
 * Most attempts succeed at a healthy endpoint and change nothing. For a lost feed only the new owner knows the health;
 * its own attempts determine it.
 */
async function recordHealth(
  transaction: Queryable,
  ended: readonly EndedAttempt[],
  healthOf: Round['healthOf'],
  owned: ReadonlySet<string>,
): Promise<Map<string, Health>> {
  const health = new Map<string, Health>()
  const changed = new Map<string, { organization_id: string; id: string; failing_since: Date | null }>()
  for (const attempt of ended) {
    const { organization_id } = attempt.result
    if (attempt.sample === null || !owned.has(organization_id)) continue
    const before = health.get(attempt.webhookId) ?? healthOf(attempt)
    const after = healthAfter(before, attempt.sample)
    health.set(attempt.webhookId, after)
    if (after.failingSince?.getTime() !== before.failingSince?.getTime() || after.disabledReason !== null) {
      changed.set(attempt.webhookId, {
        organization_id,
        id: attempt.webhookId,
        failing_since: after.failingSince,
      })
    }
  }
  if (changed.size > 0) await noteFailingSince(transaction, [...changed.values()])
  for (const { organization_id, id } of changed.values()) {
    const reason = health.get(id)?.disabledReason
    if (reason) await disableWebhook(transaction, organization_id, id, reason, newId())
  }
  return health
}
