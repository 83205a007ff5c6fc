import { setMaxListeners } from 'node:events'
import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { type Broadcast, SKIP_REASONS } from '../../model/broadcasts/broadcast.js'
import type { Again } from '../../model/jobs.js'
import type { NotRecorded } from '../../model/messages/outgoing.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { fillTemplate, type HeaderMedia } from '../../model/templates/fill.js'
import { unnamedWord } from '../../model/templates/placeholders.js'
import { findBroadcast } from '../../storage/broadcasts/broadcasts.js'
import { completeBroadcast, stopBroadcast } from '../../storage/broadcasts/runs.js'
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

/** The state of a shard's job. */
export interface ShardState {
  generation: number
  /** Recipient `n` belongs to lane `n % lanes`. */
  lane: number
  lanes: number
  /** The recipient after which it continues. */
  after?: number
  /** Whether recipients were deferred before. */
  hasDeferred?: boolean
  /** How many outcomes in a row were unknown before. */
  unknowns?: number
}

/** Maximum number of a shard's messages in flight. */
const MAX_IN_FLIGHT = 32
const BATCH = 200
/** How long a shard runs before it makes room for other broadcasts. */
const SLICE_MS = 30_000
/**
 * Maximum wait of a message before its call (for a send slot or a locked row); later ones wait for the shard's next
 * round.
 */
const WAIT_MS = 30_000
/** How long a message is tried while the upstream is down or over its limit. */
const RETRY_MS = 10 * 60_000
/**
 * This many unknown outcomes in a row are not chance: the server at the upstream's address does not behave like the
 * upstream.
 */
const MAX_UNKNOWN = 50
/** When deferred recipients are tried again. */
const DEFERRED_MS = 30_000

/** The state of a running shard. */
interface Run {
  ctx: Context
  tenant: Tenant
  broadcast: Broadcast
  channel: Channel
  header: HeaderMedia<{ channelMediaId: string }> | null
  signal: AbortSignal | undefined
  /** Whether recipients were deferred, in this job of the shard or an earlier one. */
  hasDeferred: boolean
  /** How many outcomes in a row were unknown, including those of the shard's earlier jobs. */
  unknowns: number
  /** Whether an outcome has stopped the broadcast. */
  isStopped: boolean
}

/**
 * Sends to the shard's next recipients that have no message yet. The message has the recipient's message id, so two
 * processes at one shard, or a shard that restarts after a crash, send to no recipient twice.
 */
export async function sendBroadcastShard(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  shard: ShardState,
  signal?: AbortSignal,
): Promise<Again | null> {
  const run = await openRun(ctx, organizationId, broadcastId, shard, signal)
  if (run === null) return null
  const after = await sendSlice(run, shard)
  const { hasDeferred, unknowns } = run
  if (after !== null) return { againInMs: 0, payload: { broadcastId, ...shard, after, hasDeferred, unknowns } }
  if (hasDeferred) {
    return { againInMs: DEFERRED_MS, payload: { broadcastId, ...shard, after: 0, hasDeferred: false, unknowns } }
  }
  await completeBroadcast(ctx.database, organizationId, broadcastId, ctx.clock(), newId())
  return null
}

/** Null if there is nothing to send: the broadcast has ended, or cannot continue and is paused. */
async function openRun(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  { generation, hasDeferred = false, unknowns = 0 }: ShardState,
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

/** Resolves to the recipient after which the shard continues; null at its end. */
async function sendSlice(run: Run, shard: ShardState): Promise<number | null> {
  const { ctx, tenant, broadcast, signal } = run
  const until = Date.now() + SLICE_MS
  const goesOn = () => !run.isStopped && !signal?.aborted && Date.now() < until
  let after: number | null = shard.after ?? 0

  async function* readPending(): AsyncGenerator<PendingRecipient> {
    while (after !== null && goesOn()) {
      const next = await findPendingRecipients(ctx.database, tenant.id, broadcast.id, { ...shard, after }, BATCH)
      if (next.length === 0) after = null
      for (const recipient of next) {
        if (!goesOn()) return
        yield recipient
        after = recipient.n
      }
    }
  }

  // Every waiting sender adds a listener.
  if (signal) setMaxListeners(0, signal)
  const pending = readPending()
  const sender = async () => {
    for await (const recipient of pending) await sendTo(run, recipient)
  }
  // The shard waits for all its senders, even if one fails.
  const ended = await Promise.allSettled(Array.from({ length: sendersOf(run.channel, shard.lanes) }, sender))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return after
}

/**
 * At most the number of messages per second, so that no other send of the number waits longer than a second for its
 * slot.
 */
function sendersOf({ number }: Channel, lanes: number): number {
  const { messagesPerSecond } = number
  return messagesPerSecond === 0 ? MAX_IN_FLIGHT : Math.min(MAX_IN_FLIGHT, Math.ceil(messagesPerSecond / lanes))
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
  const times = { waitUntil: now + WAIT_MS, deadline: now + RETRY_MS }
  const deadlines = { ...times, keepsTrying: true, ...(signal ? { signal } : {}) }
  const send = () => deliver(ctx, tenant, channel, message, filled.content, deadlines)
  await applyDelivery(run, recipient, await tryToDeliver(send))
}

/** If a contact's row stays locked, the recipient is tried again later. */
async function tryToDeliver(send: () => Promise<Delivery>): Promise<Delivery> {
  try {
    return await send()
  } catch (error) {
    if (error instanceof Problem && error.code === 'service_unavailable') return { result: 'late', waitMs: 0 }
    throw error
  }
}

/** The message has the outcome; this applies its effect on the broadcast. */
async function applyDelivery(run: Run, recipient: PendingRecipient, delivery: Delivery): Promise<void> {
  const { ctx, tenant, broadcast } = run
  if (delivery.result === 'unknown') run.unknowns += 1
  // A message that was not sent says nothing about the upstream.
  else if ('messageId' in delivery) run.unknowns = 0
  if (delivery.result === 'late') run.hasDeferred = true
  if (delivery.result === 'not_recorded') await applyRefusal(run, recipient, delivery.refusal)
  if (run.signal?.aborted && (delivery.result === 'unavailable' || delivery.result === 'limited')) {
    // The service stops while the upstream refuses messages: this message was certainly not sent, so another process
    // takes over.
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

async function applyRefusal(run: Run, recipient: PendingRecipient, refusal: NotRecorded): Promise<void> {
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
      // Usually the broadcast was paused or cancelled. The shard's next job checks, so that no send slots are wasted.
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
