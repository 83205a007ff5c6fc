import type { Context } from '../../context.js'
import { backoffDelay } from '../../lib/async/backoff.js'
import { newId } from '../../lib/bytes/id.js'
import type { SpanFields } from '../../lib/tracer.js'
import { type Broadcast, SKIP_REASONS } from '../../model/broadcasts/broadcast.js'
import type { ReadyContent } from '../../model/messages/content.js'
import type { NotRecorded } from '../../model/messages/outgoing.js'
import type { TakenNote } from '../../model/messages/trace.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { fillTemplate, type HeaderMedia } from '../../model/templates/fill.js'
import { unnamedWord } from '../../model/templates/placeholders.js'
import {
  type DeferredRecipient,
  deferRecipient,
  type Lane,
  takeDeferred,
  untilNextDeferred,
} from '../../storage/broadcasts/deferrals.js'
import { stopBroadcast } from '../../storage/broadcasts/runs.js'
import { type PendingRecipient, skipRecipient } from '../../storage/broadcasts/sending.js'
import { refuseMessage } from '../../storage/messages/outgoing.js'
import type { Channel } from '../messages/send/channel.js'
import {
  type Delivery,
  deliverAgain,
  deliverOrPutBack,
  draftMessage,
  type NotAccepted,
} from '../messages/send/deliver.js'
import { pauseReason, TOO_MANY_UNKNOWN } from './pause-reason.js'

/** The state of a running shard. */
export interface Run {
  ctx: Context
  tenant: Tenant
  broadcast: Broadcast
  lane: Lane
  channel: Channel
  header: HeaderMedia<{ channelMediaId: string }> | null
  signal: AbortSignal | undefined
  /** Whether recipients were passed over, in this slice of the shard or an earlier one. */
  hasPassedOver: boolean
  /** How many outcomes in a row were unknown, including those of earlier slices. */
  unknowns: number
  /** Whether an outcome has stopped the broadcast. */
  isStopped: boolean
  /**
   * Milliseconds until the next slice, if this one ends early because no send slot is near or the upstream does not
   * accept messages; null: it continues.
   */
  againInMs: number | null
  /** The number of the first recipient that the next slice begins with, because it got no send slot. */
  firstLeft: number
}

/** How long a message is retried while the upstream is down or over its limit. */
const RETRY_MS = 10 * 60_000
/** How often the upstream is called for a message over the limit of its recipient. */
const MAX_PAIR_CALLS = 5
/** The waits while the upstream accepts nothing: shorter than the minute after which a broadcast seems stuck. */
const BACKOFF = { baseMs: 2_000, maxMs: 30_000, jitter: 0.2 }
/**
 * The broadcast pauses after this many unknown outcomes in a row. They are no coincidence: the server at the upstream's
 * address does not behave like the upstream.
 */
const MAX_UNKNOWN = 50
const STOPPED = 'The broadcast was stopped before WhatsApp accepted the message'

/** Sends to a recipient that has no message yet. */
export async function sendTo(run: Run, recipient: PendingRecipient): Promise<void> {
  const { ctx, tenant, broadcast, channel, signal } = run
  if (recipient.contact_id === null) return skip(run, recipient, SKIP_REASONS.erased)
  const content = fillFor(run, recipient)
  if (content === null) return skip(run, recipient, SKIP_REASONS.missingValue)
  const { tracer } = ctx
  const span = tracer?.samples(null) ? tracer.begin('send message', null, 'internal', fieldsOf(run, recipient)) : null
  const message = draftMessage(ctx, tenant, channel, {
    id: recipient.message_id,
    addresses: [recipient.chat_id],
    content,
    mediaId: broadcast.media_id,
    replyToId: null,
    memberId: null,
    isPromotional: true,
    recipient: { broadcastId: broadcast.id, n: recipient.n, campaignId: broadcast.id, parameters: null },
    cause: {
      by: 'broadcast',
      id: broadcast.id,
      at: ctx.clock(),
      requestId: null,
      idempotencyKey: null,
      trace: span?.context ?? null,
      span,
    },
  })
  try {
    const delivery = await deliverOrPutBack(ctx, tenant, channel, message, content, span, signal)
    await applyDelivery(run, { ...recipient, since: null, attempts: 0 }, delivery)
  } catch (error) {
    // The contact's row stayed locked.
    if (!(error instanceof Problem) || error.code !== 'service_unavailable') throw error
    run.hasPassedOver = true
  } finally {
    span?.end()
  }
}

/** What the span of a send tells. */
function fieldsOf({ tenant, broadcast }: Run, { message_id }: PendingRecipient): SpanFields {
  return {
    'parley.organization_id': tenant.id,
    'parley.broadcast_id': broadcast.id,
    'parley.message_id': message_id,
  }
}

/** Sends the next message that was put back; false if none is due. */
export async function sendDeferred(run: Run): Promise<boolean> {
  const { ctx, tenant, broadcast, channel, lane, signal } = run
  // Checked first, so that no send slot is reserved in vain.
  if ((await untilNextDeferred(ctx.database, tenant.id, broadcast.id, lane)) !== 0) return false
  const take = async () => {
    const recipient = await takeDeferred(ctx.database, tenant.id, broadcast.id, lane, takenNote(ctx))
    if (recipient === null) return null
    const { message_id: id, chat_id: chatId, userId } = recipient
    const content = fillFor(run, recipient)
    if (content === null) throw new Error('a message that was filled before cannot be filled again')
    const person = userId === null ? { phone: chatId } : { userId }
    return { recipient, chatId, message: { id, recipient: person, content, replyToUpstreamId: null } }
  }
  const sent = await deliverAgain(ctx, tenant, channel, take, signal)
  if (sent === null) return false
  if ('late' in sent) endSlice(run, sent.late)
  else await applyDelivery(run, sent.taken.recipient, sent.delivery)
  return true
}

/** Records that the messages that were put back are not sent, because the broadcast is no longer running. */
export async function giveUpDeferred(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  lane: Lane,
): Promise<void> {
  const error = { code: 'upstream_unavailable', text: STOPPED, passing: 'unavailable' as const }
  for (;;) {
    const deferred = await takeDeferred(ctx.database, organizationId, broadcastId, lane, takenNote(ctx), true)
    if (deferred === null) return
    const note = { k: 'settled', at: ctx.clock().getTime() } as const
    await refuseMessage(ctx.database, organizationId, deferred.message_id, error, ctx.clock(), newId(), note)
  }
}

function takenNote({ clock, processId }: Context): TakenNote {
  return { k: 'taken', at: clock().getTime(), process: processId }
}

/** The content for a recipient; null if a value is missing. */
function fillFor({ broadcast, tenant, header }: Run, recipient: PendingRecipient): ReadyContent | null {
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
async function applyDelivery(run: Run, recipient: Tried, delivery: Delivery | NotAccepted): Promise<void> {
  if (delivery.result === 'not_accepted') return putBack(run, recipient, delivery)
  if (delivery.result === 'unknown') run.unknowns += 1
  // A message that was not sent says nothing about the upstream.
  else if ('messageId' in delivery) run.unknowns = 0
  if (delivery.result === 'late') leave(run, recipient, delivery.waitMs)
  if (delivery.result === 'not_recorded') await applyRefusal(run, recipient, delivery.refusal)
  const reason = run.unknowns >= MAX_UNKNOWN ? TOO_MANY_UNKNOWN : pauseReason(delivery)
  if (reason === null) return
  run.isStopped = true
  await pause(run.ctx, run.broadcast, reason)
}

/** Puts a message back to be sent again later, unless it has been retried for too long. */
async function putBack(
  run: Run,
  { n, message_id: messageId, since, attempts }: Tried,
  { limit, waitMs, calls, note, giveUp }: NotAccepted,
): Promise<void> {
  const { ctx, tenant, broadcast, signal } = run
  const isPair = limit === 'pair'
  // This process stops, so another one continues at once.
  const inMs = signal?.aborted ? 0 : isPair ? waitMs : Math.max(waitMs, backoffDelay(attempts + 1, BACKOFF))
  const triedMs = since === null ? 0 : Date.now() - since.getTime()
  const isOver = triedMs + inMs > RETRY_MS || (isPair && attempts + calls >= MAX_PAIR_CALLS)
  if (isOver && !signal?.aborted)
    return applyDelivery(run, { n, message_id: messageId, since, attempts }, await giveUp())
  const deferred = { n, messageId, since, attempts: attempts + (isPair ? calls : 1), inMs }
  const again = ctx.clock().getTime() + Math.round(inMs)
  await deferRecipient(ctx.database, tenant.id, broadcast.id, deferred, { ...note, again })
  // The limit per recipient does not affect other recipients.
  if (!isPair) endSlice(run, inMs)
}

function leave(run: Run, { n }: Pick<Tried, 'n'>, waitMs: number): void {
  run.firstLeft = Math.min(run.firstLeft, n)
  endSlice(run, waitMs)
}

function endSlice(run: Run, againInMs: number): void {
  run.againInMs = Math.max(run.againInMs ?? 0, againInMs)
}

async function applyRefusal(run: Run, recipient: Pick<Tried, 'n'>, refusal: NotRecorded): Promise<void> {
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
      run.hasPassedOver = true
      return
    case 'withdrawn':
      // Usually the broadcast was paused or cancelled. The shard's next job checks, so that no send slots are wasted.
      run.isStopped = true
      return
    case 'not_found':
      return
  }
}

function skip({ ctx, tenant, broadcast }: Run, { n }: Pick<Tried, 'n'>, reason: string): Promise<void> {
  return skipRecipient(ctx.database, tenant.id, broadcast.id, n, reason)
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
