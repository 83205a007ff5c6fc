import { setMaxListeners } from 'node:events'
import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { type Again, ALONE_SLICE_MS } from '../../model/jobs.js'
import { Problem } from '../../model/problem.js'
import { findBroadcast } from '../../storage/broadcasts/broadcasts.js'
import { untilNextDeferred } from '../../storage/broadcasts/deferrals.js'
import { completeBroadcast } from '../../storage/broadcasts/runs.js'
import { findPendingRecipients, type PendingRecipient } from '../../storage/broadcasts/sending.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import { type Channel, organizationChannel } from '../messages/send/channel.js'
import { findHistories } from '../runtime/histories.js'
import { openHeader } from './header.js'
import { giveUpDeferred, pause, type Run, sendDeferred, sendTo } from './send-recipient.js'

/** The state of a shard's job. */
export interface ShardState {
  generation: number
  /** Recipient `n` belongs to lane `n % lanes`. */
  lane: number
  lanes: number
  /** The number of the recipient after which it continues. */
  after?: number
  /** Whether earlier slices passed recipients over. */
  hasDeferred?: boolean
  /** How many outcomes in a row were unknown at the end of the slice before. */
  unknowns?: number
}

/** Maximum number of a shard's messages in flight. */
const MAX_IN_FLIGHT = 32
const BATCH = 200
/** After this time a shard gives its place back. */
const SLICE_MS = 30_000
/** The pause before a shard begins again with the recipients that it passed over. */
const PASSED_OVER_MS = 30_000

/**
 * Runs one slice of a shard: sends to its next recipients that have no message yet. Each message has the id that the
 * recipient's row holds, so two processes at one shard, or a shard that restarts after a crash, send nothing twice.
 * `isAlone`: see RunningJob.
 */
export async function sendBroadcastShard(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  shard: ShardState,
  signal?: AbortSignal,
  isAlone = false,
): Promise<Again | null> {
  const run = await openRun(ctx, organizationId, broadcastId, shard, signal)
  if (run === null) return null
  const { after, isAtEnd } = await sendSlice(run, shard, isAlone ? ALONE_SLICE_MS : SLICE_MS)
  const { hasPassedOver, unknowns, againInMs } = run
  const next = { broadcastId, ...shard, after, hasDeferred: hasPassedOver, unknowns }
  if (!isAtEnd) return { againInMs: againInMs ?? 0, payload: next }
  if (hasPassedOver) {
    return { againInMs: againInMs ?? PASSED_OVER_MS, payload: { ...next, after: 0, hasDeferred: false } }
  }
  const deferredMs = await untilNextDeferred(ctx.database, organizationId, broadcastId, shard)
  if (deferredMs !== null) return { againInMs: deferredMs, payload: next }
  await completeBroadcast(ctx.database, organizationId, broadcastId, ctx.clock(), newId())
  return null
}

/** Null if there is nothing to send: the broadcast has ended, or cannot continue and is paused, as after a restore. */
async function openRun(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  { generation, lane, lanes, hasDeferred = false, unknowns = 0 }: ShardState,
  signal: AbortSignal | undefined,
): Promise<Run | null> {
  await findHistories(ctx)
  const tenant = await findTenant(ctx.database, organizationId)
  const broadcast = await findBroadcast(ctx.database, organizationId, broadcastId)
  if (!tenant || !broadcast) return null
  if (broadcast.status !== 'running') {
    await giveUpDeferred(ctx, organizationId, broadcastId, { lane, lanes })
    return null
  }
  if (broadcast.generation !== generation) return null
  try {
    const channel = organizationChannel(ctx, tenant)
    const header = await openHeader(ctx, tenant, channel.driver, broadcast)
    const slice = { isStopped: false, againInMs: null, firstLeft: Number.POSITIVE_INFINITY }
    const state = { hasPassedOver: hasDeferred, unknowns, ...slice }
    return { ctx, tenant, broadcast, lane: { lane, lanes }, channel, header, signal, ...state }
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'service_unavailable') throw error
    await pause(ctx, broadcast, error.message)
    return null
  }
}

/** Resolves to the number of the recipient after which the shard continues, and whether it was the last one. */
async function sendSlice(run: Run, shard: ShardState, forMs: number): Promise<{ after: number; isAtEnd: boolean }> {
  const { ctx, tenant, broadcast, signal } = run
  const until = Date.now() + forMs
  const goesOn = () => !run.isStopped && run.againInMs === null && !signal?.aborted && Date.now() < until
  let after = shard.after ?? 0
  let isAtEnd = false

  async function* readPending(): AsyncGenerator<PendingRecipient> {
    while (!isAtEnd && goesOn()) {
      const next = await findPendingRecipients(ctx.database, tenant.id, broadcast.id, { ...shard, after }, BATCH)
      isAtEnd = next.length === 0
      for (const recipient of next) {
        if (!goesOn()) return
        yield recipient
        after = recipient.n
      }
    }
  }

  // Every waiting sender adds a listener.
  if (signal) setMaxListeners(0, signal)
  // One message alone, which shows whether the upstream accepts messages again.
  let hasDue = await sendDeferred(run)
  const pending = readPending()
  const sender = async () => {
    while (hasDue && goesOn()) hasDue = await sendDeferred(run)
    for await (const recipient of pending) await sendTo(run, recipient)
  }
  // Waits for all senders, even if one fails.
  const ended = await Promise.allSettled(Array.from({ length: sendersOf(run.channel, shard.lanes) }, sender))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return { after: Math.min(after, run.firstLeft - 1), isAtEnd: isAtEnd && run.firstLeft > after }
}

/** As many as the number may send in a second, so that no other send of the number waits longer for its send slot. */
function sendersOf({ number }: Channel, lanes: number): number {
  const { messagesPerSecond } = number
  return messagesPerSecond === 0 ? MAX_IN_FLIGHT : Math.min(MAX_IN_FLIGHT, Math.ceil(messagesPerSecond / lanes))
}
