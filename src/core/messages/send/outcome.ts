import type { DriverOutcome } from '../../../channels/driver.js'
import type { Context } from '../../../context.js'
import { isUniqueViolation } from '../../../database/errors.js'
import { newId } from '../../../lib/bytes/id.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { type MessageError, OPTED_OUT, OUTCOME_UNKNOWN } from '../../../model/messages/message.js'
import type { Acceptance } from '../../../model/messages/outgoing.js'
import type { CallsNote } from '../../../model/messages/trace.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { findContactById } from '../../../storage/contacts/contacts.js'
import { findMessage } from '../../../storage/messages/messages.js'
import { markMessageUnknown, refuseMessage } from '../../../storage/messages/outgoing.js'
import { optOutByUpstream } from '../../contacts/opt-outs.js'
import { checkAfterFailure } from '../../organizations/connecting/check.js'

/** The result of a send. The message is in the conversation in every case. */
export type SendResult =
  | { result: 'accepted'; messageId: string; upstreamId: string; recipient: string; answer: JsonObject }
  | { result: 'refused'; because: 'message' | 'credentials'; messageId: string; code: number | string; text: string }
  | { result: 'unavailable'; messageId: string; text: string }
  /** `limit`: the rate that was exceeded, of the number or of the pair of number and recipient. */
  | { result: 'limited'; limit: 'number' | 'pair'; messageId: string; text: string; retryAfterMs: number }
  | { result: 'unknown'; messageId: string }

/** A recorded message that has no outcome yet. */
export interface OutstandingMessage {
  organizationId: string
  id: string
  chatId: string
}

/** The error code of a message that the upstream certainly did not accept. */
const UNAVAILABLE = 'upstream_unavailable'
/** Wait before a retry if the upstream does not name one. */
const DEFAULT_RETRY_AFTER_MS = 1_000

/**
 * Records the outcome of a call; `note` has the calls, for the message's trace. If the database fails now, the message stays outstanding: a status callback or the
 * 15-minute timeout decides its outcome, and no retry sends it again.
 */
export async function recordOutcome(
  ctx: Context,
  message: OutstandingMessage,
  outcome: DriverOutcome,
  note: CallsNote,
): Promise<SendResult> {
  const { organizationId, id: messageId, chatId } = message
  switch (outcome.outcome) {
    case 'accepted': {
      const { upstreamId, waId, userId = null, isHeld = false, answer, network = null } = outcome
      const accepted = { upstreamId, waId, userId, network, isHeld, note }
      const isStored = await tryToStore(ctx, () => storeAcceptance(ctx, message, accepted))
      if (!isStored) return { result: 'unknown', messageId }
      return { result: 'accepted', messageId, upstreamId, recipient: chatId, answer }
    }
    case 'refused': {
      const { because, code, text } = outcome
      const error = because === 'credentials' ? { code, text, passing: because } : { code, text }
      await tryToStore(ctx, () =>
        refuseMessage(ctx.database, organizationId, messageId, { error, at: ctx.clock(), note }),
      )
      await tryToStore(ctx, () => checkAfterFailure(ctx, organizationId, code))
      if (code === OPTED_OUT) await tryToStore(ctx, () => optOutByUpstream(ctx, organizationId, messageId))
      return { result: 'refused', because, messageId, code, text }
    }
    case 'not_accepted': {
      const { limit, text, retryAfterMs } = outcome
      const error = { code: outcome.code ?? UNAVAILABLE, text, passing: limit ?? ('unavailable' as const) }
      await tryToStore(ctx, () =>
        refuseMessage(ctx.database, organizationId, messageId, { error, at: ctx.clock(), note }),
      )
      return limit !== null
        ? { result: 'limited', limit, messageId, text, retryAfterMs: retryAfterMs ?? DEFAULT_RETRY_AFTER_MS }
        : { result: 'unavailable', messageId, text }
    }
    case 'unknown':
      ctx.log.warn({ organizationId, messageId, reason: outcome.text }, 'the outcome of a send is unknown')
      await tryToStore(ctx, () => markMessageUnknown(ctx.database, organizationId, messageId, note))
      return { result: 'unknown', messageId }
  }
}

async function tryToStore(ctx: Context, store: () => Promise<void>): Promise<boolean> {
  try {
    await store()
    return true
  } catch (error) {
    ctx.log.error({ err: error }, 'the outcome of a send could not be stored')
    return false
  }
}

async function storeAcceptance(
  ctx: Context,
  { organizationId, id, chatId }: OutstandingMessage,
  accepted: Pick<Acceptance, 'network' | 'userId' | 'isHeld' | 'note'> & { upstreamId: string; waId: string | null },
): Promise<void> {
  const { upstreamId, waId, userId, network, isHeld, note } = accepted
  const alias = waId !== null && /^\d{5,20}$/.test(waId) && waId !== chatId ? waId : null
  const acceptance = {
    organizationId,
    id,
    upstreamId,
    network,
    at: ctx.clock(),
    alias,
    userId,
    isHeld,
    eventId: newId(),
    note,
  }
  try {
    await ctx.messageWriter.accept(acceptance)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    // The upstream gave an id that another message has. The message was sent; only its statuses cannot be assigned.
    ctx.log.error({ organizationId, messageId: id, upstreamId }, 'the upstream gave a message id twice')
    await ctx.messageWriter.accept({ ...acceptance, upstreamId: null })
  }
}

/**
 * The result of an earlier send whose request did not see it (its process died, or the outcome was unknown). Null if no
 * message has the id: then nothing was sent.
 */
export async function findSendResult(ctx: Context, tenant: Tenant, messageId: string): Promise<SendResult | null> {
  const message = await findMessage(ctx.database, tenant.id, messageId)
  if (!message) return null
  const { status, outcome, error, upstream_id: upstreamId, accepted_at: acceptedAt } = message
  if (status === 'failed' && error !== null && error.code !== OUTCOME_UNKNOWN) return readFailure(messageId, error)
  if (outcome !== null || acceptedAt === null) {
    await markMessageUnknown(ctx.database, tenant.id, messageId, null)
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

/** The result that the request returned when the message failed. */
function readFailure(messageId: string, { code, text, passing }: MessageError): SendResult {
  switch (passing) {
    case 'number':
    case 'pair':
      return { result: 'limited', limit: passing, messageId, text, retryAfterMs: DEFAULT_RETRY_AFTER_MS }
    case 'unavailable':
      return { result: 'unavailable', messageId, text }
    case 'credentials':
      return { result: 'refused', because: passing, messageId, code, text }
    default:
      return { result: 'refused', because: 'message', messageId, code, text }
  }
}
