import { businessApiChannel } from '../../channels/business-api.js'
import type { Channel, ChannelMessage, Recipient } from '../../channels/channel.js'
import type { Context } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import { sleep } from '../../lib/backoff.js'
import { newId } from '../../lib/id.js'
import { fileOf, type MessageContent, type ReadyContent, withFile } from '../../model/message-content.js'
import type { Tenant } from '../../model/organization.js'
import type { NotRecorded, OutgoingMessage, Recorded } from '../../model/outgoing-message.js'
import type { PacedNumber, Turn } from '../../model/pace.js'
import { Problem } from '../../model/problem.js'
import { memberExists } from '../../storage/members.js'
import { checkRecipient } from '../../storage/outgoing-messages.js'
import type { SendOutcome } from '../../upstream/client.js'
import { openBusinessNumber } from '../business-number.js'
import { type ContactNumber, readAddresses } from '../contacts.js'
import { handOverFile } from '../media/hand-over.js'
import { removeUnattachedFile } from '../media/remove.js'
import { upstreamBackoff } from '../upstream-backoff.js'
import { describeContent } from './describe-content.js'
import { lookForTurn } from './pace.js'
import { findSendResult, type SendResult, settle } from './settle.js'

/** A message that an organization wants sent. */
export interface SendCommand {
  /** The id that the message will have; made before, so that a retry can find what became of it. */
  id: string
  /** The recipient as given: a phone number in any form, or the chat id of a person without one. */
  phone_number: string
  content: MessageContent
  /** The message that this one answers or reacts to, by either of its ids, and the field that named it. */
  about: { id: string; field: string } | null
  /** The team's member who sends; null when a program does. */
  memberId: string | null
}

/** How long a request may take in all, retries included (contract 1). */
const BUDGET_MS = 25_000
/** A call that cannot get this long is not worth starting. */
const MIN_CALL_MS = 1_000
const MAX_TRIES = 5
/** How long at least a message waits for its contact's row, which somebody else is writing. */
const HELD_PATIENCE_MS = 2_000
/** The share of the upstream's rate that is used: not every message takes the same time on its way there. */
const USED_RATE = 0.95

/**
 * Sends one message to an existing contact: records it, calls the upstream, records what it said. Throws problems for what
 * is wrong with the request (spec 4.3): invalid_provider, contact_not_found, contact_blocked, message_not_found, invalid_field,
 * invalid_media, upstream_upload_failed, too_many_requests where its turn would come too late, and service_unavailable where
 * the contact or the file store cannot be had. Nothing is recorded then.
 */
export async function sendMessage(ctx: Context, tenant: Tenant, command: SendCommand): Promise<SendResult> {
  let deadline = Date.now() + BUDGET_MS
  const recipient = readAddresses(tenant, 'phone_number', command.phone_number, 'body')
  await checkMember(ctx, tenant, command.memberId)
  const channel = openChannel(ctx, tenant)
  const draft = toDraft(ctx, tenant, command, recipient)
  await checkFirst(ctx, tenant, command, draft, recipient, deadline)
  const begun = Date.now()
  const content = await prepareContent(ctx, tenant, channel, command)
  deadline += Date.now() - begun
  const recorded = await recordInTurn(ctx, tenant, command, draft, recipient, deadline)
  if (!recorded) return (await findSendResult(ctx, tenant, command.id)) ?? { result: 'unknown', messageId: command.id }
  const message = toChannelMessage(command.id, content, recorded)
  const outcome = await tryToSend(ctx, tenant, channel, message, deadline)
  return settle(ctx, tenant, command.id, recorded, outcome)
}

/** The way out of an organization. Throws invalid_provider where it has none. */
export function openChannel(ctx: Context, tenant: Tenant): Channel {
  if (tenant.provider !== 'upstream') {
    throw new Problem(
      'invalid_provider',
      `The organization's provider is ${tenant.provider ?? 'not set'}: sending needs the provider upstream`,
    )
  }
  if (!tenant.upstream) {
    throw new Problem(
      'invalid_provider',
      "The organization's provider is upstream, but its phone number id and access token are not configured",
    )
  }
  return businessApiChannel(ctx.upstream, openBusinessNumber(ctx, tenant.id, tenant.upstream))
}

async function checkMember(ctx: Context, tenant: Tenant, memberId: string | null): Promise<void> {
  if (memberId === null || (await memberExists(ctx.database, tenant.id, memberId))) return
  throw new Problem('invalid_field', `memberId ${memberId} is not a member of this organization`)
}

function toDraft(
  ctx: Context,
  tenant: Tenant,
  { id, content, about, memberId }: SendCommand,
  { forms }: ContactNumber,
): OutgoingMessage {
  return {
    organizationId: tenant.id,
    id,
    addresses: forms,
    sender_type: memberId === null ? 'bot-chat' : 'human-chat',
    message_type: content.type,
    ...describeContent(content),
    mediaId: fileOf(content) === null ? null : id,
    aboutId: about?.id ?? null,
    isReaction: content.type === 'reaction',
    pairLimit: tenant.upstream?.pair_limit ?? false,
    assignee_id: memberId,
    created_at: ctx.clock(),
    contactEventId: newId(),
  }
}

/**
 * Looks at all that could be wrong with the message itself (contract 4, order of checks) before a file is fetched for it, or
 * one of the number's turns is taken. Without a file and a pace, recording it shows the same.
 */
async function checkFirst(
  ctx: Context,
  tenant: Tenant,
  command: SendCommand,
  draft: OutgoingMessage,
  recipient: ContactNumber,
  deadline: number,
): Promise<void> {
  const number = pacedNumber(tenant)
  if (draft.mediaId === null && number.messagesPerSecond === 0) return
  const refusal = await checkRecipient(ctx.database, draft)
  if (refusal && !mayWait(ctx, refusal, deadline)) throw explainRefusal(refusal, command, recipient)
  if (draft.mediaId !== null) refuseLateTurn(await lookForTurn(ctx.database, tenant.id, number))
}

/** Whether a refusal passes by itself, so soon that the call still has its time then. */
function mayWait(
  ctx: Context,
  refusal: NotRecorded,
  deadline: number,
): refusal is Extract<NotRecorded, { reason: 'paced' }> {
  return refusal.reason === 'paced' && Date.now() + refusal.waitMs + ctx.upstreamTimeoutMs <= deadline
}

/** Hands the file over, where there is one. */
async function prepareContent(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  { id, content }: SendCommand,
): Promise<ReadyContent> {
  const file = fileOf(content)
  if (file === null) return content as ReadyContent
  const { channelMediaId, filename } = await handOverFile(ctx, tenant, channel, { id, ...file })
  return withFile(content, { channelMediaId }, filename)
}

type RecordedMessage = Extract<Recorded, { recorded: true }>

/**
 * Waits until the upstream takes another message of the organization's number, and records the message. What is refused then
 * leaves no file behind.
 */
async function recordInTurn(
  ctx: Context,
  tenant: Tenant,
  command: SendCommand,
  draft: OutgoingMessage,
  recipient: ContactNumber,
  deadline: number,
): Promise<RecordedMessage | null> {
  try {
    const turn = await ctx.takeTurn(tenant.id, pacedNumber(tenant))
    refuseLateTurn(turn)
    if (turn.waitMs > 0) await sleep(turn.waitMs)
    return await record(ctx, command, draft, recipient, deadline)
  } catch (error) {
    // Where nobody knows whether it was recorded, the sweep decides.
    if (error instanceof Problem && draft.mediaId !== null) await dropFile(ctx, tenant, draft.mediaId)
    throw error
  }
}

function pacedNumber({ upstream }: Tenant): PacedNumber {
  const { phone_number_id: phoneNumberId = '', messages_per_second: rate = 0 } = upstream ?? {}
  return { phoneNumberId, messagesPerSecond: rate * USED_RATE }
}

function refuseLateTurn({ granted, waitMs }: Turn): void {
  if (!granted)
    throw tooManyRequests("The organization's number sends as fast as the upstream takes it already", waitMs)
}

/**
 * Records the message, after the wait that the upstream's pace for one recipient asks for. Null when the id is taken: an
 * attempt whose process died had its statement waiting, and it came through after all.
 */
async function record(
  ctx: Context,
  command: SendCommand,
  draft: OutgoingMessage,
  recipient: ContactNumber,
  deadline: number,
): Promise<RecordedMessage | null> {
  for (;;) {
    const until = Math.max(deadline - ctx.upstreamTimeoutMs, Date.now() + HELD_PATIENCE_MS)
    const recorded = await recordOnce(ctx, { ...draft, created_at: ctx.clock() }, until)
    if (recorded === null || recorded.recorded) return recorded
    if (!mayWait(ctx, recorded, deadline)) throw explainRefusal(recorded, command, recipient)
    await sleep(recorded.waitMs)
  }
}

/** A file whose message was refused after all; one that cannot be removed now is found by the sweep. */
async function dropFile(ctx: Context, tenant: Tenant, mediaId: string): Promise<void> {
  await removeUnattachedFile(ctx, tenant.id, mediaId).catch((error: unknown) => {
    ctx.log.warn(
      { err: error, organizationId: tenant.id, mediaId },
      'the file of a refused message could not be removed',
    )
  })
}

function recordOnce(ctx: Context, message: OutgoingMessage, until: number): Promise<Recorded | null> {
  return ctx.outbox.record(message, until).catch((error: unknown) => {
    if (isUniqueViolation(error)) return null
    throw error
  })
}

function explainRefusal(refusal: NotRecorded, command: SendCommand, { digits }: ContactNumber): Problem {
  switch (refusal.reason) {
    case 'no_contact':
      return new Problem(
        'contact_not_found',
        `No contact with the number ${digits} in this organization: create the contact first (POST /contact)`,
        { chat_id: digits },
      )
    case 'blocked':
      return new Problem('contact_blocked', `The contact ${refusal.chatId} is blocked: unblock it to send to it`, {
        chat_id: refusal.chatId,
      })
    case 'not_found':
      return new Problem(
        'message_not_found',
        `${command.about?.field} "${command.about?.id}" is not a message of the conversation with ${refusal.chatId} that the upstream has taken`,
      )
    case 'paced':
      return tooManyRequests(
        `${refusal.chatId} has had as many messages as the upstream takes for one recipient`,
        refusal.waitMs,
      )
  }
}

function tooManyRequests(reason: string, waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Problem('too_many_requests', `${reason}: try again in ${seconds} s`, { retry_after: seconds })
}

function toChannelMessage(id: string, content: ReadyContent, recorded: RecordedMessage): ChannelMessage {
  const recipient: Recipient = recorded.userId === null ? { phone: recorded.chatId } : { userId: recorded.userId }
  return { id, recipient, content, aboutUpstreamId: recorded.aboutUpstreamId }
}

/** Tries again only what was surely not accepted, and only inside the request's budget. */
async function tryToSend(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  message: ChannelMessage,
  deadline: number,
): Promise<SendOutcome> {
  let outcome: SendOutcome = NO_TIME_LEFT
  for (let attempt = 1; ; attempt++) {
    const leftMs = deadline - Date.now()
    if (leftMs < MIN_CALL_MS) return outcome
    outcome = await channel.send(message, Math.min(ctx.upstreamTimeoutMs, leftMs))
    if (outcome.outcome !== 'not_accepted' || !outcome.mayRetry || attempt === MAX_TRIES) return outcome
    const turn = await ctx.takeTurn(tenant.id, pacedNumber(tenant))
    const delay = Math.max(retryDelay(outcome, attempt), turn.waitMs)
    if (!turn.granted || Date.now() + delay + MIN_CALL_MS > deadline) return { ...outcome, retryAfterMs: delay }
    await sleep(delay)
  }
}

/** A call that could not end is not begun: the message has surely not left. */
const NO_TIME_LEFT: SendOutcome = {
  outcome: 'not_accepted',
  limit: null,
  code: null,
  text: 'no time was left to call the upstream',
  retryAfterMs: null,
  mayRetry: false,
}

function retryDelay(outcome: Extract<SendOutcome, { outcome: 'not_accepted' }>, attempt: number): number {
  if (outcome.retryAfterMs !== null) return outcome.retryAfterMs
  // The upstream's advice for the limit of a pair: 4^X seconds.
  if (outcome.limit === 'pair') return 4 ** (attempt - 1) * 1_000
  return upstreamBackoff(attempt)
}
