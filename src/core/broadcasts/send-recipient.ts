import type { Context } from '../../context.js'
import { backoffDelay } from '../../lib/async/backoff.js'
import type { FairPlaces, PlaceLimits } from '../../lib/async/fair-places.js'
import type { Span, SpanFields } from '../../lib/tracer.js'
import { type Broadcast, SKIP_REASONS } from '../../model/broadcasts/broadcast.js'
import type { ReadyContent } from '../../model/messages/content.js'
import type { NotRecorded, OutgoingMessage } from '../../model/messages/outgoing.js'
import type { TakenNote } from '../../model/messages/trace.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { fillTemplate, type HeaderMedia } from '../../model/templates/fill.js'
import { unnamedWord } from '../../model/templates/placeholders.js'
import { needsPhoneNumber } from '../../model/templates/template.js'
import {
  type DeferredRecipient,
  deferRecipient,
  takeDeferred,
  untilNextDeferred,
} from '../../storage/broadcasts/deferrals.js'
import { stopBroadcast } from '../../storage/broadcasts/runs.js'
import { type Lane, type PendingRecipient, skipRecipient, WHOLE } from '../../storage/broadcasts/sending.js'
import { refuseMessage } from '../../storage/messages/outgoing.js'
import type { Channel } from '../messages/send/channel.js'
import {
  deliverAgain,
  deliverOrPutBack,
  draftMessage,
  type JobDelivery,
  type NotAccepted,
  RETRY_BACKOFF,
  RETRY_MS,
  waitForJobSlot,
} from '../messages/send/deliver.js'
import { SendLog } from '../messages/send/send-log.js'
import { pauseReason, TOO_MANY_UNKNOWN } from './pause-reason.js'

/** A running slice of a broadcast's job. */
export interface Slice {
  ctx: Context
  tenant: Tenant
  broadcast: Broadcast
  channel: Channel
  lane: Lane
  header: HeaderMedia<{ channelMediaId: string }> | null
  /** The places of messages that have reserved a send slot which has not come. */
  slots: FairPlaces
  signal: AbortSignal
  /** Whether recipients were passed over, in this slice or an earlier one. */
  hasPassedOver: boolean
  /** How many outcomes in a row were unknown, including the outcomes of earlier slices. */
  unknowns: number
  /**
   * Milliseconds until the next slice, if this one ends early because no send slot is near, the upstream does not accept
   * messages, or the broadcast was stopped; null: it continues.
   */
  againInMs: number | null
}

/**
 * The messages of broadcasts in progress, after their send slots have come: fewer than the connections to the upstream.
 * With a third of a second for each, one organization sends more than 1,000 per second.
 */
export const BROADCAST_SENDS: PlaceLimits = { places: 480, ofOneKey: 400 }
/** How often the upstream is called for a message over the limit of its recipient. */
const MAX_PAIR_CALLS = 5
/**
 * The broadcast pauses after this many unknown outcomes in a row. They are no coincidence: the server at the upstream's
 * address does not behave like the upstream.
 */
const MAX_UNKNOWN = 50
const STOPPED = 'The broadcast was stopped before WhatsApp accepted the message'

/** Sends to a recipient that has no message yet. False if it gets no send slot in this slice. */
export async function sendTo(slice: Slice, recipient: PendingRecipient): Promise<boolean> {
  const { ctx, tenant } = slice
  const content = recipient.contact_id === null ? null : fillFor(slice, recipient)
  if (content === null) {
    await skip(slice, recipient, recipient.contact_id === null ? SKIP_REASONS.erased : SKIP_REASONS.missingValue)
    return true
  }
  if (recipient.phone_number === null && needsPhoneNumber(slice.broadcast.template)) {
    await skip(slice, recipient, SKIP_REASONS.noNumber)
    return true
  }
  const span = ctx.tracer?.samples(null)
    ? ctx.tracer.begin('send message', null, 'internal', fieldsOf(slice, recipient))
    : null
  const log = new SendLog(ctx.clock, span)
  try {
    if (!(await waitForSlot(slice, log))) return false
    const message = draftFor(slice, recipient, content, span)
    const send = () => deliverOrPutBack(ctx, slice.channel, { message, content }, { log, signal: slice.signal })
    const delivery = await ctx.limits.broadcastSends.run(tenant.id, send)
    await applyDelivery(slice, { ...recipient, since: null, attempts: 0 }, delivery)
  } catch (error) {
    // The contact's row stayed locked.
    if (!(error instanceof Problem) || error.code !== 'service_unavailable') throw error
    slice.hasPassedOver = true
  } finally {
    span?.end()
  }
  return true
}

/** False if the slice has ended, or no send slot is near, which ends it. */
async function waitForSlot(slice: Slice, log: SendLog): Promise<boolean> {
  const { ctx, tenant, channel, slots, signal } = slice
  const lateMs = await slots.run(null, async () => {
    if (slice.againInMs !== null || signal.aborted) return 0
    return waitForJobSlot(ctx, tenant, channel, { log, signal })
  })
  if (lateMs !== null) endSlice(slice, lateMs)
  return lateMs === null
}

function draftFor(
  { ctx, tenant, channel, broadcast }: Slice,
  recipient: PendingRecipient,
  content: ReadyContent,
  span: Span | null,
): OutgoingMessage {
  const { id, media_id: mediaId } = broadcast
  const trace = span?.context ?? null
  return draftMessage(ctx, tenant, channel, {
    id: recipient.message_id,
    addresses: [recipient.chat_id],
    content,
    mediaId,
    replyToId: null,
    memberId: null,
    isPromotional: true,
    recipient: { broadcastId: id, n: recipient.n, campaignId: id, parameters: null },
    cause: { by: 'broadcast', id, at: ctx.clock(), requestId: null, idempotencyKey: null, trace, span },
  })
}

/** The fields of a send's span. */
function fieldsOf({ tenant, broadcast }: Slice, { message_id }: PendingRecipient): SpanFields {
  return {
    'parley.organization_id': tenant.id,
    'parley.broadcast_id': broadcast.id,
    'parley.message_id': message_id,
  }
}

/** Sends the next message that was put back; false if none is due, or it gets no send slot in this slice. */
export async function sendDeferred(slice: Slice): Promise<boolean> {
  const { ctx, tenant, broadcast, channel, lane, signal } = slice
  // Checked first, so that no send slot is reserved in vain.
  if ((await untilNextDeferred(ctx.database, tenant.id, broadcast.id, lane)) !== 0) return false
  const log = new SendLog(ctx.clock, null)
  if (!(await waitForSlot(slice, log))) return false
  const recipient = await takeDeferred(ctx.database, tenant.id, broadcast.id, { note: takenNote(ctx), lane })
  if (recipient === null) return false
  const { message_id: id, chat_id: chatId, userId } = recipient
  const content = fillFor(slice, recipient)
  if (content === null) throw new Error('a message that was filled before cannot be filled again')
  const person = userId === null ? { phone: chatId } : { userId }
  const driverMessage = { id, recipient: person, content, replyToUpstreamId: null }
  const message = { organizationId: tenant.id, id, chatId, driverMessage }
  const send = () => deliverAgain(ctx, channel, message, { log, signal })
  await applyDelivery(slice, recipient, await ctx.limits.broadcastSends.run(tenant.id, send))
  return true
}

/** Records that the messages that were put back are not sent, because the broadcast is no longer running. */
export async function giveUpDeferred(ctx: Context, organizationId: string, broadcastId: string): Promise<void> {
  const error = { code: 'upstream_unavailable', text: STOPPED, passing: 'unavailable' as const }
  for (;;) {
    const early = { note: takenNote(ctx), lane: WHOLE, early: true }
    const deferred = await takeDeferred(ctx.database, organizationId, broadcastId, early)
    if (deferred === null) return
    const note = { k: 'settled', at: ctx.clock().getTime() } as const
    await refuseMessage(ctx.database, organizationId, deferred.message_id, { error, at: ctx.clock(), note })
  }
}

function takenNote({ clock, processId }: Context): TakenNote {
  return { k: 'taken', at: clock().getTime(), process: processId }
}

/** The content for a recipient; null if a value is missing. */
function fillFor({ broadcast, tenant, header }: Slice, recipient: PendingRecipient): ReadyContent | null {
  const own = recipient.parameters
  const parameters = {
    ...broadcast.parameters,
    body: { ...broadcast.parameters.body, ...own?.body },
    buttons: { ...broadcast.parameters.buttons, ...own?.buttons },
  }
  const filled = fillTemplate(broadcast.template, parameters, { ...recipient, unnamed: unnamedWord(tenant) }, header)
  return filled.outcome === 'missing' ? null : filled.content
}

/** A recipient whose message may have been put back before. */
type Tried = Pick<DeferredRecipient, 'n' | 'message_id' | 'attempts'> & { since: Date | null }

/** Applies the effect of a message's outcome on the broadcast. */
async function applyDelivery(slice: Slice, recipient: Tried, delivery: JobDelivery): Promise<void> {
  if (delivery.result === 'not_accepted') return putBack(slice, recipient, delivery)
  if (delivery.result === 'unknown') slice.unknowns += 1
  // A message that was not sent says nothing about the upstream.
  else if ('messageId' in delivery) slice.unknowns = 0
  if (delivery.result === 'not_recorded') await applyRefusal(slice, recipient, delivery.refusal)
  const reason = slice.unknowns >= MAX_UNKNOWN ? TOO_MANY_UNKNOWN : pauseReason(delivery)
  if (reason === null) return
  endSlice(slice, 0)
  await pause(slice.ctx, slice.broadcast, reason)
}

/** Puts a message back to be sent again later, unless it has been retried for too long. */
async function putBack(
  slice: Slice,
  { n, message_id: messageId, since, attempts }: Tried,
  { limit, waitMs, calls, note, giveUp }: NotAccepted,
): Promise<void> {
  const { ctx, tenant, broadcast, channel, signal } = slice
  const isPair = limit === 'pair'
  // This process stops, so another one continues at once.
  const inMs = signal.aborted ? 0 : isPair ? waitMs : Math.max(waitMs, backoffDelay(attempts + 1, RETRY_BACKOFF))
  const now = ctx.clock()
  const first = since ?? now
  const isOver = now.getTime() - first.getTime() + inMs > RETRY_MS || (isPair && attempts + calls >= MAX_PAIR_CALLS)
  if (isOver && !signal.aborted)
    return applyDelivery(slice, { n, message_id: messageId, since, attempts }, await giveUp())
  const tries = attempts + (isPair ? calls : 1)
  const deferred = { n, messageId, instanceId: channel.instanceId, since: first, attempts: tries, inMs }
  const again = now.getTime() + Math.round(inMs)
  await deferRecipient(ctx.database, tenant.id, broadcast.id, { ...deferred, note: { ...note, again } })
  // The limit per recipient does not affect other recipients.
  if (!isPair) endSlice(slice, inMs)
}

function endSlice(slice: Slice, againInMs: number): void {
  slice.againInMs = Math.max(slice.againInMs ?? 0, againInMs)
}

async function applyRefusal(slice: Slice, recipient: Pick<Tried, 'n'>, refusal: NotRecorded): Promise<void> {
  switch (refusal.reason) {
    case 'no_contact':
      return skip(slice, recipient, SKIP_REASONS.erased)
    case 'blocked':
      return skip(slice, recipient, SKIP_REASONS.blocked)
    case 'unreachable':
    case 'unfit':
      return skip(slice, recipient, SKIP_REASONS.unreachable)
    case 'unwanted':
      return skip(slice, recipient, refusal.optedOut ? SKIP_REASONS.optedOut : SKIP_REASONS.unwanted)
    case 'paced':
      slice.hasPassedOver = true
      return
    case 'withdrawn':
      // Usually the broadcast was paused or cancelled. The next slice checks, so that no send slots are wasted.
      endSlice(slice, 0)
      return
    case 'not_found':
      return
  }
}

function skip({ ctx, tenant, broadcast }: Slice, { n }: Pick<Tried, 'n'>, reason: string): Promise<void> {
  return skipRecipient(ctx.database, tenant.id, broadcast.id, { n, reason })
}

/** Pauses a running broadcast with a reason. */
export async function pause(
  ctx: Context,
  { organization_id, id, generation }: Broadcast,
  reason: string,
): Promise<void> {
  const change = { from: ['running'], to: 'paused', reason, generation, at: ctx.clock() } as const
  const wasRunning = await stopBroadcast(ctx.database, organization_id, id, change)
  if (wasRunning) ctx.log.warn({ organizationId: organization_id, broadcastId: id, reason }, 'a broadcast was paused')
}
