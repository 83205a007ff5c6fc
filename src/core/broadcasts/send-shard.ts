import { setMaxListeners } from 'node:events'
import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { type Broadcast, SKIP_REASONS } from '../../model/broadcasts/broadcast.js'
import type { NotRecorded } from '../../model/messages/outgoing.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { fillTemplate, type HeaderMedia } from '../../model/templates/fill.js'
import { unnamedWord } from '../../model/templates/placeholders.js'
import { findBroadcast } from '../../storage/broadcasts/broadcasts.js'
import {
  completeBroadcast,
  enqueueBroadcastShard,
  LANES,
  type Lane,
  stopBroadcast,
} from '../../storage/broadcasts/runs.js'
import {
  findPendingRecipients,
  type PendingRecipient,
  resetFailedRecipients,
  skipRecipient,
} from '../../storage/broadcasts/sending.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import { type Channel, organizationChannel } from '../messages/send/channel.js'
import { type Delivery, deliver, draftMessage } from '../messages/send/deliver.js'
import { openHeader } from './header.js'
import { pauseReason, TOO_MANY_UNKNOWN } from './pause-reason.js'

export type { Lane } from '../../storage/broadcasts/runs.js'

/** How many of a lane's messages are on their way at a time, at most. */
const MAX_IN_FLIGHT = 32
const BATCH = 200
/** After so long a lane makes room for those of other broadcasts, and goes on when its turn comes. */
const SLICE_MS = 30_000
/** So long a message waits for what comes before its call; what comes later is for the lane's next round. */
const WAIT_MS = 30_000
/** So long a message is tried while the upstream is down or takes no more. */
const PATIENCE_MS = 10 * 60_000
/** So many unknown outcomes in a row are no accident: what answers for the upstream does not speak its language. */
const MAX_UNKNOWN = 50
/** When recipients are tried again that could not be sent to for the moment. */
const DEFERRED_SECONDS = 30

/** A lane at work: what it needs for every message, and what it has come across. */
interface Run {
  ctx: Context
  tenant: Tenant
  broadcast: Broadcast
  channel: Channel
  header: HeaderMedia<{ channelMediaId: string }> | null
  signal: AbortSignal | undefined
  /** Some could not be sent to for the moment, in this job of the lane or in one before it. */
  hasDeferred: boolean
  /** How many outcomes in a row were unknown, those of the jobs of the lane before it included. */
  unknowns: number
  /** What became of a message says that no more are to be sent. */
  isStopped: boolean
}

/**
 * Sends to the next recipients of a lane that have no message yet. That message is the mark of being sent to, and its id is the
 * recipient's: two processes at one lane, or a lane begun again after a crash, send to nobody twice.
 */
export async function sendBroadcastShard(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  lane: Lane,
  signal?: AbortSignal,
): Promise<void> {
  const run = await openRun(ctx, organizationId, broadcastId, lane, signal)
  if (run === null) return
  const after = await sendSlice(run, lane)
  if (after !== null) {
    const next = { ...lane, after, hasDeferred: run.hasDeferred, unknowns: run.unknowns }
    await enqueueBroadcastShard(ctx.database, organizationId, broadcastId, next, 0)
  } else if (run.hasDeferred) {
    const next = { ...lane, after: 0, hasDeferred: false, unknowns: run.unknowns }
    await enqueueBroadcastShard(ctx.database, organizationId, broadcastId, next, DEFERRED_SECONDS)
  } else await completeBroadcast(ctx.database, organizationId, broadcastId, ctx.clock(), newId())
  ctx.wakeWorkers()
}

/** Null where there is nothing (more) to send: the broadcast has ended, or cannot go on and is paused. */
async function openRun(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  { generation, hasDeferred, unknowns }: Lane,
  signal: AbortSignal | undefined,
): Promise<Run | null> {
  const tenant = await findTenant(ctx.database, organizationId)
  const broadcast = await findBroadcast(ctx.database, organizationId, broadcastId)
  if (!tenant || broadcast?.status !== 'running' || broadcast.generation !== generation) return null
  try {
    const channel = organizationChannel(ctx, tenant)
    const header = await openHeader(ctx, tenant, channel.driver, broadcast)
    return { ctx, tenant, broadcast, channel, header, signal, hasDeferred, unknowns, isStopped: false }
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'service_unavailable') throw error
    await pause(ctx, broadcast, error.message)
    return null
  }
}

/** Resolves to the recipient after which the lane is to go on; null when it has come to its end. */
async function sendSlice(run: Run, lane: Lane): Promise<number | null> {
  const { ctx, tenant, broadcast, signal } = run
  const until = Date.now() + SLICE_MS
  const goesOn = () => !run.isStopped && !signal?.aborted && Date.now() < until
  let after: number | null = lane.after

  async function* readPending(): AsyncGenerator<PendingRecipient> {
    while (after !== null && goesOn()) {
      const next = await findPendingRecipients(ctx.database, tenant.id, broadcast.id, { ...lane, after }, BATCH)
      if (next.length === 0) after = null
      for (const recipient of next) {
        if (!goesOn()) return
        yield recipient
        after = recipient.n
      }
    }
  }

  // Each sender that waits listens to it.
  if (signal) setMaxListeners(0, signal)
  const pending = readPending()
  const sender = async () => {
    for await (const recipient of pending) await sendTo(run, recipient)
  }
  // All senders end before the lane does, also when one of them fails.
  const ended = await Promise.allSettled(Array.from({ length: inFlight(run.channel) }, sender))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return after
}

/** No more than the number may send in a second: what else it has to send waits no longer than that for its turn. */
function inFlight({ number }: Channel): number {
  const { messagesPerSecond } = number
  return messagesPerSecond === 0 ? MAX_IN_FLIGHT : Math.min(MAX_IN_FLIGHT, Math.ceil(messagesPerSecond / LANES))
}

async function sendTo(run: Run, recipient: PendingRecipient): Promise<void> {
  const { ctx, tenant, broadcast, channel, header, signal } = run
  if (recipient.contact_id === null) return skip(run, recipient, SKIP_REASONS.erased)
  const own = recipient.parameters
  const parameters = {
    ...broadcast.parameters,
    body: { ...broadcast.parameters.body, ...own?.body },
    buttons: { ...broadcast.parameters.buttons, ...own?.buttons },
  }
  const person = { ...recipient, unnamed: unnamedWord(tenant) }
  const filled = fillTemplate(broadcast.template, parameters, person, header)
  if (filled.outcome === 'missing') return skip(run, recipient, SKIP_REASONS.missingValue)
  const message = draftMessage(ctx, tenant, channel, {
    id: recipient.message_id,
    addresses: [recipient.chat_id],
    content: filled.content,
    mediaId: broadcast.media_id,
    replyToId: null,
    memberId: null,
    isPromotional: true,
    recipient: { broadcastId: broadcast.id, n: recipient.n, campaignId: broadcast.id, parameters: null },
  })
  const now = Date.now()
  const times = { waitUntil: now + WAIT_MS, deadline: now + PATIENCE_MS }
  const patience = { ...times, keepsTrying: true, ...(signal ? { signal } : {}) }
  const send = () => deliver(ctx, tenant, channel, message, filled.content, patience)
  await settleDelivery(run, recipient, await tryToDeliver(send))
}

/** A contact whose row somebody holds for long is tried again later. */
async function tryToDeliver(send: () => Promise<Delivery>): Promise<Delivery> {
  try {
    return await send()
  } catch (error) {
    if (error instanceof Problem && error.code === 'service_unavailable') return { result: 'late', waitMs: 0 }
    throw error
  }
}

/** What was sent stands in its message; here is what else it means for the broadcast. */
async function settleDelivery(run: Run, recipient: PendingRecipient, delivery: Delivery): Promise<void> {
  const { ctx, tenant, broadcast } = run
  if (delivery.result === 'unknown') run.unknowns += 1
  // What was not sent tells nothing of the upstream.
  else if ('messageId' in delivery) run.unknowns = 0
  if (delivery.result === 'late') run.hasDeferred = true
  if (delivery.result === 'not_recorded') await settleRefusal(run, recipient, delivery.refusal)
  if (run.signal?.aborted && (delivery.result === 'unavailable' || delivery.result === 'limited')) {
    // The service ends while the upstream takes nothing: this one was surely not sent to, and is another process's.
    const failed = { n: recipient.n, until: ctx.clock() }
    await resetFailedRecipients(ctx.database, tenant.id, broadcast.id, failed, [newId()])
    run.hasDeferred = true
    return
  }
  const reason = run.unknowns >= MAX_UNKNOWN ? TOO_MANY_UNKNOWN : pauseReason(delivery)
  if (reason === null) return
  run.isStopped = true
  await pause(ctx, broadcast, reason)
}

async function settleRefusal(run: Run, recipient: PendingRecipient, refusal: NotRecorded): Promise<void> {
  switch (refusal.reason) {
    case 'no_contact':
      return skip(run, recipient, SKIP_REASONS.erased)
    case 'blocked':
      return skip(run, recipient, SKIP_REASONS.blocked)
    case 'unreachable':
      return skip(run, recipient, SKIP_REASONS.unreachable)
    case 'unwanted':
      return skip(run, recipient, refusal.optedOut ? SKIP_REASONS.optedOut : SKIP_REASONS.unwanted)
    case 'paced':
      run.hasDeferred = true
      return
    case 'withdrawn':
      // Mostly it was paused or cancelled: the lane's next job looks, before more of this one's take turns for nothing.
      run.isStopped = true
      return
    case 'not_found':
      return
  }
}

function skip({ ctx, tenant, broadcast }: Run, { n }: PendingRecipient, reason: string): Promise<void> {
  return skipRecipient(ctx.database, tenant.id, broadcast.id, n, reason)
}

async function pause(ctx: Context, { organization_id, id, generation }: Broadcast, reason: string): Promise<void> {
  const change = { from: ['running'], to: 'paused', reason, generation, at: ctx.clock() } as const
  const wasRunning = await stopBroadcast(ctx.database, organization_id, id, change)
  if (wasRunning) ctx.log.warn({ organizationId: organization_id, broadcastId: id, reason }, 'a broadcast was paused')
}
