import { setMaxListeners } from 'node:events'
import type { Context } from '../../context.js'
import { FairPlaces } from '../../lib/async/fair-places.js'
import { startCountdown } from '../../lib/async/timeout.js'
import type { Broadcast } from '../../model/broadcasts/broadcast.js'
import { type Again, ALONE_SLICE_MS, type RunningJob } from '../../model/jobs.js'
import type { RateLimitedNumber } from '../../model/messages/send-rate.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { findBroadcast } from '../../storage/broadcasts/broadcasts.js'
import { untilNextDeferred } from '../../storage/broadcasts/deferrals.js'
import { completeBroadcast, enqueueBroadcastLanes } from '../../storage/broadcasts/runs.js'
import {
  findPendingRecipients,
  hasPendingRecipients,
  type Lane,
  type PendingRecipient,
  WHOLE,
} from '../../storage/broadcasts/sending.js'
import { findInstanceById } from '../../storage/instances/instances.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import { type Channel, furtherChannel, organizationChannel } from '../messages/send/channel.js'
import { lanesOf, openNumber } from '../messages/send/choose-number.js'
import { listNumbers } from '../organizations/numbers.js'
import { findHistories } from '../processes/histories.js'
import { type OwnHeader, openHeader } from './header.js'
import { refuseRestrictedLane } from './restricted.js'
import { giveUpDeferred, pause, type Slice, sendDeferred, sendTo } from './send-recipient.js'

/** The state of a broadcast's job, from slice to slice. */
export interface SendState {
  broadcastId: string
  generation: number
  /** The number of the recipient after which it continues. */
  after?: number
  /** Whether earlier slices passed recipients over. */
  hasPassedOver?: boolean
  /** How many outcomes in a row were unknown at the end of the slice before. */
  unknowns?: number
  /** How many senders the slice before had. */
  senders?: number
  /** The instance whose number it sends through; absent: the number of the broadcast, or the first. */
  lane?: string
  /** The header's file, as the number of a lane knows it. */
  header?: OwnHeader
}

/** Enough for the usual pace of a number, and fewer than the unknown outcomes in a row that pause a broadcast. */
const FIRST_SENDERS = 32
const MAX_SENDERS = 512
/** The most senders for a number without a limit, whose pace does not bound them. */
const MAX_UNPACED = 128
/** How far ahead send slots are reserved. Any other message of the number waits that long. */
const SLOTS_AHEAD_MS = 200
/** After this time the job gives its place back. */
const SLICE_MS = 30_000
/** The pause before the job begins again with the recipients that it passed over. */
const PASSED_OVER_MS = 30_000

/**
 * Runs one slice of a broadcast's job: sends to its next recipients that have no message yet. Each message has the id
 * that the recipient's row holds, so two processes at one broadcast, or a job that restarts after a crash, send nothing
 * twice. A broadcast that sends from several numbers has one such job for each (docs/decisions/several-numbers.md).
 * `isAlone`: see RunningJob.
 */
export async function sendBroadcast(
  ctx: Context,
  organizationId: string,
  state: SendState,
  { signal, isAlone }: Pick<RunningJob, 'signal' | 'isAlone'>,
): Promise<Again | null> {
  const { broadcastId } = state
  const slice = await openSlice(ctx, organizationId, state, signal)
  if (slice === null || !('channel' in slice)) return slice
  const { after, isAtEnd, senders } = await sendSlice(slice, state, isAlone ? ALONE_SLICE_MS : SLICE_MS)
  const { hasPassedOver, unknowns, againInMs, lane } = slice
  const { generation, lane: ofInstance } = state
  const own = { ...(ofInstance && { lane: ofInstance }), ...(slice.ownHeader && { header: slice.ownHeader }) }
  const next = { broadcastId, generation, after, hasPassedOver, unknowns, senders, ...own }
  if (!isAtEnd) return { againInMs: againInMs ?? 0, payload: next }
  if (hasPassedOver) {
    return { againInMs: againInMs ?? PASSED_OVER_MS, payload: { ...next, after: 0, hasPassedOver: false } }
  }
  const deferredMs = await untilNextDeferred(ctx.database, organizationId, broadcastId, lane)
  if (deferredMs !== null) return { againInMs: deferredMs, payload: next }
  if (await completeBroadcast(ctx.database, organizationId, broadcastId, ctx.clock())) return null
  // A recipient of another lane may write to the number of this one.
  const isShared = lane.instanceId !== null || lane.others !== null
  if (!isShared || !(await hasPendingRecipients(ctx.database, organizationId, broadcastId, WHOLE))) return null
  return { againInMs: PASSED_OVER_MS, payload: { ...next, after: 0 } }
}

/**
 * Null if there is nothing to send: the broadcast has ended, or cannot continue and is paused, as after a restore. A lane
 * goes on with a newer generation.
 */
async function openSlice(
  ctx: Context,
  organizationId: string,
  state: SendState,
  signal: AbortSignal,
): Promise<(Slice & { ownHeader: OwnHeader | null }) | Again | null> {
  const { broadcastId, generation, hasPassedOver = false, unknowns = 0 } = state
  await findHistories(ctx)
  const tenant = await findTenant(ctx.database, organizationId)
  const broadcast = await findBroadcast(ctx.database, organizationId, broadcastId)
  if (!tenant || !broadcast) return null
  if (broadcast.status !== 'running') {
    await giveUpDeferred(ctx, organizationId, broadcastId)
    return null
  }
  if (broadcast.generation !== generation) {
    if (state.lane === undefined) return null
    return { againInMs: 0, payload: { broadcastId, generation: broadcast.generation, lane: state.lane } }
  }
  try {
    const opened = await openLane(ctx, tenant, broadcast, state.lane)
    if (opened === null) return null
    const { channel, lane } = opened
    await refuseRestrictedLane(ctx, broadcast, { restrictions: channel.restrictions, lane }, ctx.clock())
    const ofLane = { driver: channel.driver, own: state.lane === undefined ? null : (state.header ?? 'none') } as const
    const { header, own: ownHeader } = await openHeader(ctx, tenant, broadcast, ofLane)
    const slots = new FairPlaces({ places: slotsAhead(channel.number) })
    const common = { ctx, tenant, broadcast, channel, lane, header, slots, signal }
    return { ...common, hasPassedOver, unknowns, againInMs: null, ownHeader }
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'service_unavailable') throw error
    await pause(ctx, broadcast, error.message)
    return null
  }
}

/**
 * The number that the job sends through, and its recipients. The job of the first number starts those of the others.
 * Null: the number of the lane is gone, and its recipients are those of the first. Throws what pauses the broadcast.
 */
async function openLane(
  ctx: Context,
  tenant: Tenant,
  { id, generation, from_number }: Broadcast,
  instanceId: string | undefined,
): Promise<{ channel: Channel; lane: Lane } | null> {
  if (instanceId !== undefined) {
    const instance = await findInstanceById(ctx.database, tenant.id, instanceId)
    return instance && { channel: furtherChannel(ctx, tenant, instance), lane: { instanceId, others: null } }
  }
  const first = organizationChannel(ctx, tenant)
  if (!tenant.has_further_numbers && from_number === null) return { channel: first, lane: WHOLE }
  const numbers = await listNumbers(ctx, tenant)
  if (from_number !== null) {
    const number = numbers.find(({ phone_number_id }) => phone_number_id === from_number)
    if (number) return { channel: await openNumber(ctx, tenant, number), lane: WHOLE }
    throw new Problem(
      'instance_not_found',
      `The number ${from_number}, which was to send it, is not connected any more`,
    )
  }
  const others = lanesOf(tenant, numbers).flatMap(({ instance_id }) => instance_id ?? [])
  await enqueueBroadcastLanes(ctx.database, tenant.id, { id, generation }, others)
  return { channel: first, lane: others.length === 0 ? WHOLE : { instanceId: null, others } }
}

/**
 * Resolves to the number of the recipient after which the next slice continues, whether it was the last one, and how
 * many senders the next slice begins with.
 */
async function sendSlice(
  slice: Slice,
  state: SendState,
  forMs: number,
): Promise<{ after: number; isAtEnd: boolean; senders: number }> {
  const { ctx, tenant, broadcast, channel, lane, slots, signal } = slice
  const leftMs = startCountdown(forMs)
  const goesOn = () => slice.againInMs === null && !signal.aborted && leftMs() > 0
  let { after = 0 } = state
  let isAtEnd = false
  /** The number of the first recipient that got no send slot. */
  let first = Number.POSITIVE_INFINITY

  const read = (from: number) => {
    const position = { generation: broadcast.generation, after: from, lane }
    const batch = findPendingRecipients(ctx.database, tenant.id, broadcast.id, position)
    // It is awaited later, so that a failure is not yet handled.
    batch.catch(() => undefined)
    return batch
  }

  /** Reads a batch while the one before is sent, so that no sender waits for it. */
  async function* readPending(): AsyncGenerator<PendingRecipient> {
    for (let ahead = read(after); goesOn(); ) {
      const batch = await ahead
      const last = batch.at(-1)
      isAtEnd = last === undefined
      if (last === undefined) return
      ahead = read(last.n)
      for (const recipient of batch) {
        if (!goesOn()) return
        yield recipient
        after = recipient.n
      }
    }
  }

  // Every waiting sender adds a listener.
  setMaxListeners(0, signal)
  // One message alone, which shows whether the upstream accepts messages again.
  let hasDue = await sendDeferred(slice)
  const pending = readPending()
  const send = async () => {
    while (hasDue && goesOn()) hasDue = await sendDeferred(slice)
    for await (const recipient of pending) {
      if (!(await sendTo(slice, recipient))) first = Math.min(first, recipient.n)
      else if (needsSender()) addSender()
    }
  }
  const senders: Promise<void>[] = []
  const failures: unknown[] = []
  const most = mostSenders(channel.number)
  const addSender = () => senders.push(send().catch((error: unknown) => void failures.push(error)))
  // While all senders are busy, the pace is not reached. Unknown outcomes are no reason to send faster.
  const needsSender = () => senders.length < most && slice.unknowns === 0 && slots.figures().waiting === 0
  while (senders.length < Math.min(most, state.senders ?? FIRST_SENDERS)) addSender()
  // Waits for all senders, even if one fails, and for the senders that are added meanwhile.
  for (const sender of senders) await sender
  if (failures.length > 0) throw failures[0]
  return {
    after: Math.min(after, first - 1),
    isAtEnd: isAtEnd && first > after,
    senders: slice.againInMs === null ? senders.length : FIRST_SENDERS,
  }
}

/** As many as the number may send in a second, which reaches its pace if the upstream takes up to a second. */
function mostSenders({ messagesPerSecond }: RateLimitedNumber): number {
  return messagesPerSecond === 0 ? MAX_UNPACED : Math.min(MAX_SENDERS, Math.ceil(messagesPerSecond))
}

/** How many senders may wait for a send slot that they have reserved; the others wait without a slot. */
function slotsAhead({ messagesPerSecond }: RateLimitedNumber): number {
  return Math.max(1, Math.ceil((messagesPerSecond * SLOTS_AHEAD_MS) / 1_000))
}
