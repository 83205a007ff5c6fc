import type { Context } from '../../context.js'
import { retryOnDeadlock } from '../../database/retry.js'
import { newId } from '../../lib/bytes/id.js'
import type { Broadcast, BroadcastStatus } from '../../model/broadcasts/broadcast.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { findBroadcast, lockBroadcast } from '../../storage/broadcasts/broadcasts.js'
import { findOneOffBroadcast } from '../../storage/broadcasts/one-off-sends.js'
import { advanceBroadcastRetry, findBroadcastRetry } from '../../storage/broadcasts/retries.js'
import { launchBroadcast, rescheduleBroadcast, stopBroadcast } from '../../storage/broadcasts/runs.js'
import { resetFailedRecipients, useKeyLookups } from '../../storage/broadcasts/sending.js'
import { getBroadcast } from './read.js'
import { refuseRestrictedNumbers } from './restricted.js'

/** The command line uses it too. */
export type ControlContext = Pick<Context, 'database' | 'clock'>

const RESET_BATCH = 5_000
const RETRIABLE = ['running', 'paused', 'completed'] as const

/** Pauses a running or scheduled broadcast; sends in progress finish. Throws broadcast_not_found, broadcast_state. */
export async function pauseBroadcast(ctx: ControlContext, organization: Organization, id: string): Promise<Broadcast> {
  const change = { from: ['scheduled', 'running'], to: 'paused', reason: null, at: ctx.clock() } as const
  if (await stopBroadcast(ctx.database, organization.id, id, change)) return getBroadcast(ctx, organization, id)
  throw await wrongState(ctx, organization, id, { action: 'paused', from: change.from })
}

/** Cancels a broadcast for good; recipients without a message are skipped. Throws like pauseBroadcast. */
export async function cancelBroadcast(ctx: ControlContext, organization: Organization, id: string): Promise<Broadcast> {
  const change = { from: ['scheduled', 'running', 'paused'], to: 'cancelled', reason: null, at: ctx.clock() } as const
  if (!(await stopBroadcast(ctx.database, organization.id, id, change)))
    throw await wrongState(ctx, organization, id, { action: 'cancelled', from: change.from })
  return getBroadcast(ctx, organization, id)
}

/**
 * Resumes a paused broadcast; if its time has not come, it is scheduled again. Throws like pauseBroadcast, and
 * account_restricted if the upstream would refuse its messages then.
 */
export async function resumeBroadcast(ctx: ControlContext, organization: Organization, id: string): Promise<Broadcast> {
  const found = await findBroadcast(ctx.database, organization.id, id)
  const scheduledAt = found?.scheduled_at ?? null
  const isEarly = scheduledAt !== null && scheduledAt > ctx.clock()
  if (found?.status === 'paused') await refuseRestrictedNumbers(ctx, found, isEarly ? scheduledAt : ctx.clock())
  if (isEarly && (await rescheduleBroadcast(ctx.database, organization.id, id)))
    return getBroadcast(ctx, organization, id)
  const start = { from: ['paused'], at: ctx.clock(), eventId: newId() } as const
  if (await launchBroadcast(ctx.database, organization.id, id, start)) return getBroadcast(ctx, organization, id)
  throw await wrongState(ctx, organization, id, { action: 'resumed', from: ['paused'] })
}

/** The result of a retry. */
export interface Retried {
  broadcast: Broadcast
  /** How many recipients are sent to again. */
  retried: number
}

/**
 * Sends again to all failed recipients, including those with an unknown outcome. Late statuses of their first messages
 * are not counted any more. A paused broadcast resumes with all its recipients. `retryId` identifies the request.
 * Throws like pauseBroadcast.
 */
export async function retryFailed(
  ctx: ControlContext,
  organization: Organization,
  id: string,
  retryId: string,
): Promise<Retried> {
  const retry = { id: retryId, until: ctx.clock() }
  const first = await retryOnDeadlock(() => retryBatch(ctx, organization, id, retry))
  if (first === null) throw await wrongState(ctx, organization, id, { action: 'retried', from: RETRIABLE })
  return retryRest(ctx, organization, id, { ...retry, retried: first })
}

/** Continues the retry of a request whose process died; no recipient is tried twice. Null if it had not started. */
export async function recoverRetry(
  ctx: ControlContext,
  organization: Organization,
  id: string,
  retryId: string,
): Promise<Retried | null> {
  const started = await findBroadcastRetry(ctx.database, organization.id, retryId)
  return started && retryRest(ctx, organization, id, { id: retryId, ...started })
}

async function retryRest(
  ctx: ControlContext,
  organization: Organization,
  id: string,
  { retried: before, ...retry }: Retry & { retried: number },
): Promise<Retried> {
  let retried = before
  for (;;) {
    // A broadcast that was cancelled in the meantime has no recipients left.
    const more = (await retryOnDeadlock(() => retryBatch(ctx, organization, id, retry))) ?? 0
    if (more === 0) return { broadcast: await getBroadcast(ctx, organization, id), retried }
    retried += more
  }
}

/** A retry request. A message that fails again after `until` is not tried a third time. */
interface Retry {
  id: string
  until: Date
}

/**
 * Resets failed recipients and starts their sending in one transaction, so a broadcast that has ended has no pending
 * recipients. Null if the broadcast has another status.
 */
function retryBatch(
  ctx: ControlContext,
  organization: Organization,
  id: string,
  { id: retryId, until }: Retry,
): Promise<number | null> {
  return ctx.database.transaction(async (transaction) => {
    const broadcast = await lockBroadcast(transaction, organization.id, id)
    if (!RETRIABLE.some((status) => status === broadcast?.status)) return null
    await useKeyLookups(transaction)
    const messageIds = Array.from({ length: RESET_BATCH }, newId)
    const retried = await resetFailedRecipients(transaction, organization.id, id, { until, messageIds })
    await advanceBroadcastRetry(transaction, organization.id, id, { id: retryId, until, retried })
    const start = { from: RETRIABLE, at: ctx.clock(), eventId: newId() }
    if (retried > 0) await launchBroadcast(transaction, organization.id, id, start)
    return retried
  })
}

async function wrongState(
  ctx: ControlContext,
  organization: Organization,
  id: string,
  { action, from }: { action: string; from: readonly BroadcastStatus[] },
): Promise<Problem> {
  if (await findOneOffBroadcast(ctx.database, organization.id, id)) {
    return new Problem(
      'broadcast_state',
      `This is a single message sent with POST /send-template, which cannot be ${action}: send it again`,
    )
  }
  const broadcast = await findBroadcast(ctx.database, organization.id, id)
  if (!broadcast) return new Problem('broadcast_not_found', `No broadcast with the id ${id} in this organization`)
  return new Problem(
    'broadcast_state',
    `The broadcast is ${broadcast.status}: only one that is ${from.join(' or ')} can be ${action}`,
  )
}
