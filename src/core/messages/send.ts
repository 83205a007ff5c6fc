import { businessApiChannel } from '../../channels/business-api.js'
import type { Channel, ChannelMessage, Recipient } from '../../channels/channel.js'
import type { Context } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import { backoffDelay, sleep } from '../../lib/backoff.js'
import { newId } from '../../lib/id.js'
import type { JsonObject } from '../../lib/json.js'
import { OUTCOME_UNKNOWN } from '../../model/message.js'
import type { Tenant } from '../../model/organization.js'
import { Problem } from '../../model/problem.js'
import { findContactById } from '../../storage/contacts.js'
import { memberExists } from '../../storage/members.js'
import { findMessage } from '../../storage/messages.js'
import {
  acceptMessage,
  markMessageUnknown,
  type OutgoingMessage,
  type Recorded,
  recordOutgoingMessage,
  refuseMessage,
} from '../../storage/outgoing-messages.js'
import type { SendOutcome } from '../../upstream/client.js'
import { type ContactNumber, readAddresses } from '../contacts.js'

/** A message that an organization wants sent. */
export interface SendCommand {
  /** The id that the message will have; made before, so that a retry can find what became of it. */
  id: string
  /** The recipient as given: a phone number in any form, or the chat id of a person without one. */
  phone_number: string
  content: ChannelMessage['content']
  context_message_id: string | null
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
 * is wrong with the request (spec 4.3): invalid_provider, contact_not_found, contact_blocked, message_not_found, invalid_field.
 */
export async function sendMessage(ctx: Context, tenant: Tenant, command: SendCommand): Promise<SendResult> {
  const deadline = Date.now() + BUDGET_MS
  const recipient = readAddresses(tenant, 'phone_number', command.phone_number, 'body')
  await checkMember(ctx, tenant, command.memberId)
  const channel = openChannel(ctx, tenant)
  const recorded = await record(ctx, tenant, command, recipient)
  if (!recorded) return { result: 'unknown', messageId: command.id }
  const outcome = await tryToSend(channel, toChannelMessage(command, recorded), ctx.upstreamTimeoutMs, deadline)
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

type RecordedMessage = Extract<Recorded, { recorded: true }>

/** Null when the id is taken: an attempt whose process died had its statement waiting, and it came through after all. */
async function record(
  ctx: Context,
  tenant: Tenant,
  command: SendCommand,
  { digits, forms }: ContactNumber,
): Promise<RecordedMessage | null> {
  const contextId = command.context_message_id
  const message: OutgoingMessage = {
    id: command.id,
    sender_type: command.memberId === null ? 'bot-chat' : 'human-chat',
    message_type: command.content.type,
    text: command.content.text,
    contextMessageId: contextId,
    assignee_id: command.memberId,
    created_at: ctx.clock(),
    contactEventId: newId(),
  }
  const recorded = await recordOutgoingMessage(ctx.database, tenant.id, forms, message).catch((error: unknown) => {
    if (isUniqueViolation(error)) return null
    throw error
  })
  if (!recorded || recorded.recorded) return recorded
  switch (recorded.reason) {
    case 'no_contact':
      throw new Problem(
        'contact_not_found',
        `No contact with the number ${digits} in this organization: create the contact first (POST /contact)`,
        { chat_id: digits },
      )
    case 'blocked':
      throw new Problem('contact_blocked', `The contact ${recorded.chatId} is blocked: unblock it to send to it`, {
        chat_id: recorded.chatId,
      })
    case 'no_context':
      throw new Problem(
        'message_not_found',
        `context_message_id "${contextId}" is not a message of the conversation with ${recorded.chatId}`,
      )
  }
}

function toChannelMessage(command: SendCommand, recorded: RecordedMessage): ChannelMessage {
  const recipient: Recipient = recorded.userId === null ? { phone: recorded.chatId } : { userId: recorded.userId }
  return { id: command.id, recipient, content: command.content, contextUpstreamId: recorded.contextUpstreamId }
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
  const accepted = { upstreamId, at: ctx.clock(), alias, eventId: newId() }
  try {
    await acceptMessage(ctx.database, tenant.id, messageId, accepted)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    // The upstream gave an id that another message has. It is sent all the same; only its statuses cannot be told apart.
    ctx.log.error({ organizationId: tenant.id, messageId, upstreamId }, 'the upstream gave a message id twice')
    await acceptMessage(ctx.database, tenant.id, messageId, { ...accepted, upstreamId: null })
  }
}
