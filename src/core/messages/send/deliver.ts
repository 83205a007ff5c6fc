import type { DriverMessage, DriverOutcome, Recipient } from '../../../channels/driver.js'
import type { Context } from '../../../context.js'
import { isUniqueViolation } from '../../../database/errors.js'
import { sleep } from '../../../lib/async/backoff.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import { newId } from '../../../lib/bytes/id.js'
import { writeTraceparent } from '../../../lib/http/trace-context.js'
import type { Cause } from '../../../model/messages/cause.js'
import { hasFile, type MessageContent, type ReadyContent } from '../../../model/messages/content.js'
import { whyNotToGroup } from '../../../model/messages/group-content.js'
import type { BroadcastRecipient, NotRecorded, OutgoingMessage, Recorded } from '../../../model/messages/outgoing.js'
import type { CallsNote, WaitReason } from '../../../model/messages/trace.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { upstreamBackoff } from '../../organizations/upstream-backoff.js'
import type { Channel } from './channel.js'
import { describeContent } from './describe-content.js'
import { type OutstandingMessage, recordOutcome, type SendResult } from './outcome.js'
import { askedNote, type SendLog } from './send-log.js'

/** The parts of a message to be recorded. */
export interface Draft {
  id: string
  /** All forms of the recipient's address. */
  addresses: readonly string[]
  content: MessageContent | ReadyContent
  /** The stored file that the message shows. By default, a message with a file has a file with the message's own id. */
  mediaId?: string | null
  replyToId: string | null
  memberId: string | null
  isPromotional: boolean
  recipient: BroadcastRecipient | null
  cause: Cause
}

/** The time that a send has left, in milliseconds. */
export interface SendTimeLeft {
  /** How long it may still wait before the call: for a send slot, the contact's row and the limit per recipient. */
  waitLeftMs: () => number
  /** Until the last call must have ended. */
  leftMs: () => number
  /** The longest wait for a send slot or before a retry, for jobs, which come back later; default: as for a request. */
  maxPauseMs?: number
  /** If aborted, the send stops waiting and retrying. */
  signal?: AbortSignal
}

/** A message to be recorded, and what the channel sends. */
export interface ReadyMessage {
  message: OutgoingMessage
  content: ReadyContent
}

/** A send in progress: the time that it has left, and what it has done and waited for. */
interface RunningSend {
  timeLeft: SendTimeLeft
  log: SendLog
}

/** A recorded message that is given to the channel. */
export interface SendableMessage extends OutstandingMessage {
  driverMessage: DriverMessage
}

/** What a job gives to its send: it ends early if `signal` is aborted. */
interface JobSend {
  log: SendLog
  signal: AbortSignal | undefined
}

/** The time of a request: it waits only as long as enough is left for the call. */
export function requestTimeLeft(ctx: Context, leftMs: () => number): SendTimeLeft {
  return { waitLeftMs: () => leftMs() - ctx.upstreamTimeoutMs, leftMs }
}

/** A job waits no longer than this in its place. */
const MAX_PAUSE_MS = 1_000

function jobTimeLeft(ctx: Context, signal: AbortSignal | undefined): SendTimeLeft {
  const waitLeftMs = startCountdown(MAX_PAUSE_MS)
  const leftMs = startCountdown(MAX_PAUSE_MS + MAX_TRIES * (ctx.upstreamTimeoutMs + MAX_PAUSE_MS))
  return { waitLeftMs, leftMs, maxPauseMs: MAX_PAUSE_MS, ...(signal ? { signal } : {}) }
}

/** `taken`: a message with this id is recorded already. `late`: no send slot is free in time. */
export type Delivery =
  | SendResult
  | { result: 'taken' }
  | { result: 'late'; waitMs: number }
  | { result: 'not_recorded'; refusal: NotRecorded }

/** The same of a message of a job, which has its send slot. */
export type JobDelivery = Exclude<Delivery, { result: 'late' }> | NotAccepted

const MIN_CALL_MS = 1_000
const MAX_TRIES = 5
/** Minimum time that a message waits for its contact's row if another transaction has locked it. */
const LOCK_TIMEOUT_MS = 2_000

export function draftMessage(ctx: Context, tenant: Tenant, channel: Channel, draft: Draft): OutgoingMessage {
  const { id, addresses, content, replyToId, memberId, isPromotional, recipient, cause } = draft
  const { mediaId = hasFile(content) ? id : null } = draft
  return {
    organizationId: tenant.id,
    id,
    addresses,
    sender_type: memberId === null ? 'bot-chat' : 'human-chat',
    message_type: content.type === 'raw_template' ? 'template' : content.type,
    ...describeContent(content),
    mediaId,
    replyToId,
    isReaction: content.type === 'reaction',
    pairLimit: channel.pairLimit,
    instanceId: channel.instanceId,
    usesJids: channel.usesJids,
    fitsGroups: channel.usesJids || whyNotToGroup(content) === null,
    assignee_id: memberId,
    created_at: ctx.clock(),
    contactEventId: newId(),
    isPromotional,
    recipient,
    asked: askedNote(ctx, cause),
    traceparent: cause.trace?.isSampled ? writeTraceparent(cause.trace) : null,
  }
}

/**
 * Sends one message; every send goes through here, or is one of a job and goes through `deliverOrPutBack`. Waits for a send slot, records the
 * message, calls the upstream and records the outcome. `log` has what the send waited for before. Throws
 * service_unavailable if the contact's row stays locked.
 */
export async function deliver(
  ctx: Context,
  channel: Channel,
  { message, content }: ReadyMessage,
  send: RunningSend,
): Promise<Delivery> {
  const { timeLeft, log } = send
  const lateMs = await waitForSlot(ctx, message.organizationId, channel, send)
  if (lateMs !== null) return { result: 'late', waitMs: lateMs }
  const begun = await begin(ctx, message, timeLeft, log)
  if ('result' in begun) return begun
  const sendable = toSendable(message, content, begun)
  const outcome = await callUpstream(ctx, channel, sendable, send)
  const note = log.takeCalls()
  return log.step('record outcome', () => recordOutcome(ctx, sendable, outcome, note))
}

/** How long a message of a job is retried while the upstream is down or over its limit. */
export const RETRY_MS = 10 * 60_000
/** The waits while the upstream accepts nothing: shorter than the minute after which a broadcast seems stuck. */
export const RETRY_BACKOFF = { baseMs: 2_000, maxMs: 30_000, jitter: 0.2 }

/** A recorded message that was certainly not sent and may be sent again; or it is given up, which records why. */
export interface NotAccepted {
  result: 'not_accepted'
  message: SendableMessage
  limit: 'number' | 'pair' | null
  /** How long to wait. */
  waitMs: number
  /** How often the upstream was called. */
  calls: number
  /** The calls, for the message's trace. */
  note: CallsNote
  giveUp: () => Promise<SendResult>
}

/** Waits for the send slot of a job's message, for at most `MAX_PAUSE_MS`; else resolves to when it would come, in ms. */
export function waitForJobSlot(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  { log, signal }: JobSend,
): Promise<number | null> {
  return waitForSlot(ctx, tenant.id, channel, { timeLeft: jobTimeLeft(ctx, signal), log })
}

/**
 * Sends one message of a job, whose send slot has come. Like `deliver`, but waits no longer than `MAX_PAUSE_MS` for
 * anything, and records no outcome if the upstream certainly did not accept the message.
 */
export async function deliverOrPutBack(
  ctx: Context,
  channel: Channel,
  { message, content }: ReadyMessage,
  { log, signal }: JobSend,
): Promise<JobDelivery> {
  const timeLeft = jobTimeLeft(ctx, signal)
  const begun = await begin(ctx, message, timeLeft, log)
  if ('result' in begun) return begun
  return call(ctx, channel, toSendable(message, content, begun), { timeLeft, log })
}

/** Sends a message of a job that was recorded and not accepted, and whose send slot has come. */
export function deliverAgain(
  ctx: Context,
  channel: Channel,
  sendable: SendableMessage,
  { log, signal }: JobSend,
): Promise<SendResult | NotAccepted> {
  return call(ctx, channel, sendable, { timeLeft: jobTimeLeft(ctx, signal), log })
}

async function begin(
  ctx: Context,
  message: OutgoingMessage,
  timeLeft: SendTimeLeft,
  log: SendLog,
): Promise<{ result: 'taken' } | { result: 'not_recorded'; refusal: NotRecorded } | RecordedMessage> {
  const recorded = await record(ctx, message, timeLeft, log)
  if (recorded === null) return { result: 'taken' }
  return recorded.recorded ? recorded : { result: 'not_recorded', refusal: recorded }
}

async function call(
  ctx: Context,
  channel: Channel,
  sendable: SendableMessage,
  send: RunningSend,
): Promise<SendResult | NotAccepted> {
  const outcome = await callUpstream(ctx, channel, sendable, send)
  const { log } = send
  const { calls } = log
  const note = log.takeCalls()
  const store = () => log.step('record outcome', () => recordOutcome(ctx, sendable, outcome, note))
  if (outcome.outcome !== 'not_accepted') return store()
  const { limit, retryAfterMs } = outcome
  return { result: 'not_accepted', message: sendable, limit, waitMs: retryAfterMs ?? 0, calls, note, giveUp: store }
}

/** Whether the refusal ends while the send may wait. */
export function passesInTime(
  refusal: NotRecorded,
  { waitLeftMs }: SendTimeLeft,
): refusal is Extract<NotRecorded, { reason: 'paced' }> {
  return refusal.reason === 'paced' && refusal.waitMs <= waitLeftMs()
}

/** Resolves to null when the slot has come, else to the milliseconds until it would come. */
async function waitForSlot(
  ctx: Context,
  organizationId: string,
  { number }: Channel,
  { timeLeft: { maxPauseMs, signal }, log }: RunningSend,
): Promise<number | null> {
  const slot = await ctx.reserveSendSlot(organizationId, number, maxPauseMs)
  if (!slot.reserved) return slot.waitMs
  return (await pause(slot.waitMs, signal, 'send_slot', log)) ? null : slot.waitMs
}

/**
 * Records the message after the wait that the limit per recipient asks for. Null if the id is taken: the statement of
 * an earlier attempt, whose process died, went through after all.
 */
async function record(
  ctx: Context,
  message: OutgoingMessage,
  timeLeft: SendTimeLeft,
  log: SendLog,
): Promise<Recorded | null> {
  let { asked } = message
  for (;;) {
    const lockLeftMs = startCountdown(Math.max(timeLeft.waitLeftMs(), LOCK_TIMEOUT_MS))
    const waits = [...(asked.waits ?? []), ...(log.takeWaits().waits ?? [])]
    if (waits.length > 0) asked = { ...asked, waits }
    const recorded = await log.record(() => recordOnce(ctx, { ...message, asked, created_at: ctx.clock() }, lockLeftMs))
    if (recorded === null || recorded.recorded || !passesInTime(recorded, timeLeft)) return recorded
    if (!(await pause(recorded.waitMs, timeLeft.signal, 'recipient_limit', log))) return recorded
  }
}

function recordOnce(ctx: Context, message: OutgoingMessage, leftMs: () => number): Promise<Recorded | null> {
  return ctx.messageWriter.record(message, leftMs).catch((error: unknown) => {
    if (isUniqueViolation(error)) return null
    throw error
  })
}

type RecordedMessage = Extract<Recorded, { recorded: true }>

function toSendable(
  { organizationId, id }: OutgoingMessage,
  content: ReadyContent,
  { chatId, userId, groupId, replyToUpstreamId }: RecordedMessage,
): SendableMessage {
  const recipient: Recipient = groupId !== null ? { group: groupId } : userId === null ? { phone: chatId } : { userId }
  return { organizationId, id, chatId, driverMessage: { id, recipient, content, replyToUpstreamId } }
}

/**
 * Retries only if the upstream certainly did not accept the message, and only in time. Jobs retry more kinds of failures,
 * but only after short waits.
 */
async function callUpstream(
  ctx: Context,
  { driver, number }: Channel,
  { organizationId, driverMessage }: SendableMessage,
  { timeLeft: { leftMs, maxPauseMs, signal }, log }: RunningSend,
): Promise<DriverOutcome> {
  let outcome: DriverOutcome = NO_TIME_LEFT
  for (let attempt = 1; ; attempt++) {
    const left = leftMs()
    if (left < MIN_CALL_MS) return outcome
    outcome = await log.call(() => driver.send(driverMessage, Math.min(ctx.upstreamTimeoutMs, left)))
    if (outcome.outcome !== 'not_accepted') return outcome
    const isJob = maxPauseMs !== undefined
    const waitMs = retryDelay(outcome, attempt)
    if (attempt === MAX_TRIES || !(outcome.mayRetry || isJob))
      return isJob ? { ...outcome, retryAfterMs: waitMs } : outcome
    if (isJob && waitMs > maxPauseMs) return { ...outcome, retryAfterMs: waitMs }
    const slot = await ctx.reserveSendSlot(organizationId, number, maxPauseMs)
    const delay = Math.max(waitMs, slot.waitMs)
    if (!slot.reserved || delay + MIN_CALL_MS > leftMs()) return { ...outcome, retryAfterMs: delay }
    if (!(await pause(delay, signal, 'retry', log))) return outcome
  }
}

/** Waits; resolves to false if the wait was aborted. */
async function pause(ms: number, signal: AbortSignal | undefined, reason: WaitReason, log: SendLog): Promise<boolean> {
  if (ms <= 0) return signal?.aborted !== true
  try {
    await log.wait(reason, () => sleep(ms, signal))
    return true
  } catch (error) {
    if (signal?.aborted) return false
    throw error
  }
}

/** A call that could not finish in time is not started, so the message was certainly not sent. */
const NO_TIME_LEFT: DriverOutcome = {
  outcome: 'not_accepted',
  limit: null,
  code: null,
  text: 'there was no time left to call WhatsApp',
  retryAfterMs: null,
  mayRetry: false,
}

function retryDelay(outcome: Extract<DriverOutcome, { outcome: 'not_accepted' }>, attempt: number): number {
  if (outcome.retryAfterMs !== null) return outcome.retryAfterMs
  // The upstream advises to wait 4^X seconds when the limit per recipient is reached.
  if (outcome.limit === 'pair') return 4 ** (attempt - 1) * 1_000
  return upstreamBackoff(attempt)
}
