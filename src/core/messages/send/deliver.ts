import type { DriverMessage, DriverOutcome, Recipient } from '../../../channels/driver.js'
import type { Context } from '../../../context.js'
import { isUniqueViolation } from '../../../database/errors.js'
import { sleep } from '../../../lib/async/backoff.js'
import { newId } from '../../../lib/bytes/id.js'
import { hasFile, type MessageContent, type ReadyContent } from '../../../model/messages/content.js'
import type { BroadcastRecipient, NotRecorded, OutgoingMessage, Recorded } from '../../../model/messages/outgoing.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { upstreamBackoff } from '../../organizations/upstream-backoff.js'
import type { Channel } from './channel.js'
import { describeContent } from './describe-content.js'
import { recordOutcome, type SendResult } from './outcome.js'

/** What a message to be recorded is made from. */
export interface Draft {
  id: string
  /** The forms of the recipient's address. */
  addresses: readonly string[]
  content: MessageContent | ReadyContent
  /** The stored file that it shows; by default the one that will have the message's id, where it has a file. */
  mediaId?: string | null
  replyToId: string | null
  memberId: string | null
  isPromotional: boolean
  recipient: BroadcastRecipient | null
}

/** How long a message is tried; times in milliseconds. */
export interface SendDeadlines {
  /** Until when it waits for what comes before the call: a turn of the number, its contact's row and pace. */
  waitUntil: number
  /** When its last call must have ended. */
  deadline: number
  /** Whether it asks again for a turn of the number that is not near, and calls again as often as there is time. */
  keepsTrying: boolean
  /** Aborted, it waits and tries no more. */
  signal?: AbortSignal
}

/** What the patience of a request comes to: it asks for little, and the call itself has to have its time. */
export function requestDeadlines(ctx: Context, deadline: number): SendDeadlines {
  return { waitUntil: deadline - ctx.upstreamTimeoutMs, deadline, keepsTrying: false }
}

/** `taken`: a message was recorded under the id before. `late`: no turn of the number, or of the recipient, comes in time. */
export type Delivery =
  | SendResult
  | { result: 'taken' }
  | { result: 'late'; waitMs: number }
  | { result: 'not_recorded'; refusal: NotRecorded }

const MIN_CALL_MS = 1_000
const MAX_TRIES = 5
/** How long at least a message waits for its contact's row, which somebody else is writing. */
const LOCK_TIMEOUT_MS = 2_000

/** The message as it is recorded. */
export function draftMessage(ctx: Context, tenant: Tenant, channel: Channel, draft: Draft): OutgoingMessage {
  const { id, addresses, content, replyToId, memberId, isPromotional, recipient } = draft
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
    assignee_id: memberId,
    created_at: ctx.clock(),
    contactEventId: newId(),
    isPromotional,
    recipient,
  }
}

/**
 * Sends one message, the one way for all: waits for a turn of the number, records the message, calls the upstream, records
 * what it said. Throws service_unavailable where the contact's row cannot be had.
 */
export async function deliver(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  message: OutgoingMessage,
  content: ReadyContent,
  deadlines: SendDeadlines,
): Promise<Delivery> {
  const lateMs = await waitForSlot(ctx, tenant, channel, deadlines)
  if (lateMs !== null) return { result: 'late', waitMs: lateMs }
  const recorded = await record(ctx, message, deadlines)
  if (recorded === null) return { result: 'taken' }
  if (!recorded.recorded) return { result: 'not_recorded', refusal: recorded }
  const outcome = await callUpstream(ctx, tenant, channel, toChannelMessage(message.id, content, recorded), deadlines)
  return recordOutcome(ctx, tenant, message.id, recorded, outcome)
}

/** Whether a refusal passes by itself, and soon enough. */
export function passesInTime(
  refusal: NotRecorded,
  { waitUntil }: SendDeadlines,
): refusal is Extract<NotRecorded, { reason: 'paced' }> {
  return refusal.reason === 'paced' && Date.now() + refusal.waitMs <= waitUntil
}

/** Null when the turn has come; else how many milliseconds away it is. */
async function waitForSlot(
  ctx: Context,
  tenant: Tenant,
  { number }: Channel,
  { waitUntil, keepsTrying, signal }: SendDeadlines,
): Promise<number | null> {
  for (;;) {
    const slot = await ctx.reserveSendSlot(tenant.id, number)
    const comesInTime = keepsTrying && Date.now() + slot.waitMs <= waitUntil
    if (!slot.reserved && !comesInTime) return slot.waitMs
    if (!(await pause(slot.waitMs, signal))) return slot.waitMs
    if (slot.reserved) return null
  }
}

/**
 * Records the message, after the wait that the upstream's pace for one recipient asks for. Null when the id is taken: an
 * attempt whose process died had its statement waiting, and it came through after all.
 */
async function record(ctx: Context, message: OutgoingMessage, deadlines: SendDeadlines): Promise<Recorded | null> {
  for (;;) {
    const until = Math.max(deadlines.waitUntil, Date.now() + LOCK_TIMEOUT_MS)
    const recorded = await recordOnce(ctx, { ...message, created_at: ctx.clock() }, until)
    if (recorded === null || recorded.recorded || !passesInTime(recorded, deadlines)) return recorded
    if (!(await pause(recorded.waitMs, deadlines.signal))) return recorded
  }
}

function recordOnce(ctx: Context, message: OutgoingMessage, until: number): Promise<Recorded | null> {
  return ctx.messageWriter.record(message, until).catch((error: unknown) => {
    if (isUniqueViolation(error)) return null
    throw error
  })
}

type RecordedMessage = Extract<Recorded, { recorded: true }>

function toChannelMessage(id: string, content: ReadyContent, recorded: RecordedMessage): DriverMessage {
  const recipient: Recipient = recorded.userId === null ? { phone: recorded.chatId } : { userId: recorded.userId }
  return { id, recipient, content, replyToUpstreamId: recorded.replyToUpstreamId }
}

/** Tries again only what was surely not accepted, and only inside its time. */
async function callUpstream(
  ctx: Context,
  tenant: Tenant,
  { driver, number }: Channel,
  message: DriverMessage,
  { deadline, keepsTrying, signal }: SendDeadlines,
): Promise<DriverOutcome> {
  let outcome: DriverOutcome = NO_TIME_LEFT
  for (let attempt = 1; ; attempt++) {
    const leftMs = deadline - Date.now()
    if (leftMs < MIN_CALL_MS) return outcome
    outcome = await driver.send(message, Math.min(ctx.upstreamTimeoutMs, leftMs))
    if (outcome.outcome !== 'not_accepted') return outcome
    // The limit of one recipient is not worth the time of all that come after.
    const isLast = attempt === MAX_TRIES && (!keepsTrying || outcome.limit === 'pair')
    if (isLast || (!outcome.mayRetry && !keepsTrying)) return outcome
    const slot = await ctx.reserveSendSlot(tenant.id, number)
    const delay = Math.max(retryDelay(outcome, attempt), slot.waitMs)
    const isTooLate = Date.now() + delay + MIN_CALL_MS > deadline
    if (isTooLate || (!slot.reserved && !keepsTrying)) return { ...outcome, retryAfterMs: delay }
    if (!(await pause(delay, signal))) return outcome
  }
}

/** Waits; false when that was cut short. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (ms <= 0) return signal?.aborted !== true
  try {
    await sleep(ms, signal)
    return true
  } catch (error) {
    if (signal?.aborted) return false
    throw error
  }
}

/** A call that could not end is not begun: the message has surely not left. */
const NO_TIME_LEFT: DriverOutcome = {
  outcome: 'not_accepted',
  limit: null,
  code: null,
  text: 'no time was left to call the upstream',
  retryAfterMs: null,
  mayRetry: false,
}

function retryDelay(outcome: Extract<DriverOutcome, { outcome: 'not_accepted' }>, attempt: number): number {
  if (outcome.retryAfterMs !== null) return outcome.retryAfterMs
  // The upstream's advice for the limit of a pair: 4^X seconds.
  if (outcome.limit === 'pair') return 4 ** (attempt - 1) * 1_000
  return upstreamBackoff(attempt)
}
