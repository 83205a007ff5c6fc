import { businessApiChannel } from '../../channels/business-api.js'
import type { Channel, ChannelMessage, Recipient } from '../../channels/channel.js'
import type { Context } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import { backoffDelay, sleep } from '../../lib/backoff.js'
import { newId } from '../../lib/id.js'
import type { JsonObject } from '../../lib/json.js'
import { mediaExpiry } from '../../model/media.js'
import { OUTCOME_UNKNOWN } from '../../model/message.js'
import { fileOf, type MessageContent, type ReadyContent, withFile } from '../../model/message-content.js'
import type { Tenant } from '../../model/organization.js'
import type { OutgoingMessage, RecipientRefusal, Recorded } from '../../model/outgoing-message.js'
import { Problem } from '../../model/problem.js'
import { findContactById } from '../../storage/contacts.js'
import { memberExists } from '../../storage/members.js'
import { findMessage } from '../../storage/messages.js'
import { checkRecipient, markMessageUnknown, refuseMessage } from '../../storage/outgoing-messages.js'
import type { SendOutcome } from '../../upstream/client.js'
import { type ContactNumber, readAddresses } from '../contacts.js'
import { handOverFile } from '../media/hand-over.js'
import { describeContent } from './describe-content.js'

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

/** What became of a send (contract 4, Sending). The message stands in the conversation in every case. */
export type SendResult =
  | { result: 'accepted'; messageId: string; upstreamId: string; recipient: string; answer: JsonObject }
  | { result: 'refused'; because: 'message' | 'credentials'; messageId: string; code: number | string; text: string }
  | { result: 'unavailable'; messageId: string; text: string }
  | { result: 'limited'; messageId: string; text: string; retryAfterMs: number }
  | { result: 'unknown'; messageId: string }

/** How long a request may take in all, retries included (contract 1). */
const BUDGET_MS = 25_000
/** A call that cannot get this long is not worth starting. */
const MIN_CALL_MS = 1_000
const MAX_TRIES = 5

/**
 * Sends one message to an existing contact: records it, calls the upstream, records what it said. Throws problems for what
 * is wrong with the request (spec 4.3): invalid_provider, contact_not_found, contact_blocked, message_not_found, invalid_field,
 * invalid_media, upstream_upload_failed, and too_many_requests where its turn would come too late. Nothing is recorded then.
 */
export async function sendMessage(ctx: Context, tenant: Tenant, command: SendCommand): Promise<SendResult> {
  const recipient = readAddresses(tenant, 'phone_number', command.phone_number, 'body')
  await checkMember(ctx, tenant, command.memberId)
  const channel = openChannel(ctx, tenant)
  const draft = toDraft(ctx, tenant, command, recipient)
  const content = await prepareContent(ctx, tenant, channel, command, draft, recipient)
  const deadline = Date.now() + BUDGET_MS
  await takeTurn(ctx, tenant)
  const recorded = await record(ctx, command, draft, recipient, deadline)
  if (!recorded) return { result: 'unknown', messageId: command.id }
  const message = toChannelMessage(command.id, content, recorded)
  const outcome = await tryToSend(channel, message, ctx.upstreamTimeoutMs, deadline)
  return settle(ctx, tenant, command.id, recorded, outcome)
}

/**
 * What became of a send whose own request cannot tell any more (its process died, or its outcome was unknown then).
 * Null when no message was recorded under the id: then nothing was sent.
 */
export async function findSendResult(ctx: Context, tenant: Tenant, messageId: string): Promise<SendResult | null> {
  const message = await findMessage(ctx.database, tenant.id, messageId)
  if (!message) return null
  const { status, outcome, error, upstream_id: upstreamId, accepted_at: acceptedAt } = message
  if (status === 'failed' && error !== null && error.code !== OUTCOME_UNKNOWN) {
    return { result: 'refused', because: 'message', messageId, code: error.code, text: error.text }
  }
  if (outcome !== null || acceptedAt === null) {
    await markMessageUnknown(ctx.database, tenant.id, messageId)
    return { result: 'unknown', messageId }
  }
  const contact = await findContactById(ctx.database, tenant.id, message.contact_id)
  const recipient = contact?.chat_id ?? ''
  const answer = {
    messaging_product: 'whatsapp',
    contacts: [{ input: recipient, wa_id: recipient }],
    messages: [{ id: upstreamId }],
  }
  return { result: 'accepted', messageId, upstreamId: upstreamId ?? '', recipient, answer }
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
  return businessApiChannel(ctx.upstream, {
    phoneNumberId: tenant.upstream.phone_number_id,
    accessToken: ctx.secrets.open(tenant.upstream.access_token, `${tenant.id}:upstream.access_token`),
  })
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
  const createdAt = ctx.clock()
  const hasFile = fileOf(content) !== null
  return {
    organizationId: tenant.id,
    id,
    addresses: forms,
    sender_type: memberId === null ? 'bot-chat' : 'human-chat',
    message_type: content.type,
    ...describeContent(content),
    media: hasFile ? { id, expiresAt: mediaExpiry(createdAt) } : null,
    aboutId: about?.id ?? null,
    isReaction: content.type === 'reaction',
    pairLimit: tenant.upstream?.pair_limit ?? false,
    assignee_id: memberId,
    created_at: createdAt,
    contactEventId: newId(),
  }
}

/** Hands the file over, where there is one; first whatever else could be wrong is looked at (contract 4, order of checks). */
async function prepareContent(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  command: SendCommand,
  draft: OutgoingMessage,
  recipient: ContactNumber,
): Promise<ReadyContent> {
  const file = fileOf(command.content)
  if (file === null) return command.content as ReadyContent
  const refusal = await checkRecipient(ctx.database, draft)
  if (refusal) throw explainRefusal(refusal, command, recipient)
  const { channelMediaId, filename } = await handOverFile(ctx, tenant, channel, { id: command.id, ...file })
  return withFile(command.content, { channelMediaId }, filename)
}

/** Waits until the upstream takes another message of the organization's number. */
async function takeTurn(ctx: Context, tenant: Tenant): Promise<void> {
  if (!tenant.upstream) return
  const { phone_number_id: phoneNumberId, messages_per_second: messagesPerSecond } = tenant.upstream
  const turn = await ctx.takeTurn(tenant.id, { phoneNumberId, messagesPerSecond })
  if (turn.granted) return sleep(turn.waitMs)
  throw tooManyRequests(`The organization's number sends ${messagesPerSecond} messages per second already`, turn.waitMs)
}

type RecordedMessage = Extract<Recorded, { recorded: true }>

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
    const createdAt = ctx.clock()
    const media = draft.media && { ...draft.media, expiresAt: mediaExpiry(createdAt) }
    const recorded = await recordOnce(ctx, { ...draft, created_at: createdAt, media })
    if (recorded === null || recorded.recorded) return recorded
    if (recorded.reason !== 'paced') throw explainRefusal(recorded, command, recipient)
    const { chatId, waitMs } = recorded
    if (Date.now() + waitMs + ctx.upstreamTimeoutMs > deadline) {
      throw tooManyRequests(`${chatId} has had as many messages as the upstream takes for one recipient`, waitMs)
    }
    await sleep(waitMs)
  }
}

function recordOnce(ctx: Context, message: OutgoingMessage): Promise<Recorded | null> {
  return ctx.outbox.record(message).catch((error: unknown) => {
    if (isUniqueViolation(error)) return null
    throw error
  })
}

function explainRefusal(refusal: RecipientRefusal, command: SendCommand, { digits }: ContactNumber): Problem {
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
        `${command.about?.field} "${command.about?.id}" is not a message of the conversation with ${refusal.chatId}`,
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
  channel: Channel,
  message: ChannelMessage,
  timeoutMs: number,
  deadline: number,
): Promise<SendOutcome> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await channel.send(message, Math.min(timeoutMs, deadline - Date.now()))
    if (outcome.outcome !== 'not_accepted' || !outcome.mayRetry || attempt === MAX_TRIES) return outcome
    const delay = retryDelay(outcome, attempt)
    if (Date.now() + delay + MIN_CALL_MS > deadline) return { ...outcome, retryAfterMs: delay }
    await sleep(delay)
  }
}

function retryDelay(outcome: Extract<SendOutcome, { outcome: 'not_accepted' }>, attempt: number): number {
  if (outcome.retryAfterMs !== null) return outcome.retryAfterMs
  // The upstream's advice for the limit of a pair: 4^X seconds.
  if (outcome.limit === 'pair') return 4 ** (attempt - 1) * 1_000
  return backoffDelay(attempt, { baseMs: 250, maxMs: 4_000, jitter: 0.2 })
}

/**
 * Records what the upstream said. From here on the message is sent or refused whatever happens to us: when the news cannot
 * be kept, the message stays recorded as outstanding, its callback or the clock settles it, and no retry may send it again.
 */
async function settle(
  ctx: Context,
  tenant: Tenant,
  messageId: string,
  recorded: RecordedMessage,
  outcome: SendOutcome,
): Promise<SendResult> {
  switch (outcome.outcome) {
    case 'accepted': {
      const { upstreamId, waId, answer } = outcome
      const kept = await tryToKeep(ctx, () => keepAcceptance(ctx, tenant, messageId, recorded, upstreamId, waId))
      if (!kept) return { result: 'unknown', messageId }
      return { result: 'accepted', messageId, upstreamId, recipient: recorded.chatId, answer }
    }
    case 'refused': {
      const { because, code, text } = outcome
      await tryToKeep(ctx, () =>
        refuseMessage(ctx.database, tenant.id, messageId, { code, text }, ctx.clock(), newId()),
      )
      return { result: 'refused', because, messageId, code, text }
    }
    case 'not_accepted': {
      const { limit, text, retryAfterMs } = outcome
      const error = { code: outcome.code ?? 'upstream_unavailable', text }
      await tryToKeep(ctx, () => refuseMessage(ctx.database, tenant.id, messageId, error, ctx.clock(), newId()))
      return limit !== null
        ? { result: 'limited', messageId, text, retryAfterMs: retryAfterMs ?? 1_000 }
        : { result: 'unavailable', messageId, text }
    }
    case 'unknown':
      ctx.log.warn({ organizationId: tenant.id, messageId, reason: outcome.text }, 'the outcome of a send is unknown')
      await tryToKeep(ctx, () => markMessageUnknown(ctx.database, tenant.id, messageId))
      return { result: 'unknown', messageId }
  }
}

async function tryToKeep(ctx: Context, keep: () => Promise<void>): Promise<boolean> {
  try {
    await keep()
    return true
  } catch (error) {
    ctx.log.error({ err: error }, 'the outcome of a send could not be kept')
    return false
  }
}

async function keepAcceptance(
  ctx: Context,
  tenant: Tenant,
  messageId: string,
  recorded: RecordedMessage,
  upstreamId: string,
  waId: string | null,
): Promise<void> {
  const alias = waId !== null && /^\d{5,20}$/.test(waId) && waId !== recorded.chatId ? waId : null
  const acceptance = { organizationId: tenant.id, id: messageId, upstreamId, at: ctx.clock(), alias, eventId: newId() }
  try {
    await ctx.outbox.accept(acceptance)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    // The upstream gave an id that another message has. It is sent all the same; only its statuses cannot be told apart.
    ctx.log.error({ organizationId: tenant.id, messageId, upstreamId }, 'the upstream gave a message id twice')
    await ctx.outbox.accept({ ...acceptance, upstreamId: null })
  }
}
