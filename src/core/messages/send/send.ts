import type { Context } from '../../../context.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import { asObject } from '../../../lib/text/json.js'
import { SKIP_REASONS } from '../../../model/broadcasts/broadcast.js'
import type { ContactNumber } from '../../../model/contacts/written-number.js'
import type { Cause } from '../../../model/messages/cause.js'
import { fileOf, type MessageContent, type ReadyContent, withFile } from '../../../model/messages/content.js'
import { whyNotToGroup } from '../../../model/messages/group-content.js'
import type { BroadcastRecipient, NotRecorded, OutgoingMessage } from '../../../model/messages/outgoing.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { refuseRestricted } from '../../../model/organizations/restriction.js'
import { Problem } from '../../../model/problem.js'
import { memberExists } from '../../../storage/identity/members.js'
import { checkRecipient } from '../../../storage/messages/outgoing.js'
import { contactBlocked } from '../../contacts/find.js'
import { removeUnattachedFile } from '../../media/remove.js'
import { type UploadedMedia, uploadMedia } from '../../media/upload.js'
import type { Channel } from './channel.js'
import {
  deliver,
  deliverOrPutBack,
  draftMessage,
  type NotAccepted,
  passesInTime,
  type ReadyMessage,
  requestTimeLeft,
  waitForJobSlot,
} from './deliver.js'
import { findSendResult, type SendResult } from './outcome.js'
import { peekSendSlot } from './rate-limiter.js'
import { SendLog } from './send-log.js'

export interface SendCommand {
  /** The id of the message. The caller creates it, so that a retry can find the result. */
  id: string
  /** The recipient: a number, a user id, or the address of a contact. */
  to: Pick<ContactNumber, 'digits' | 'forms' | 'userId'>
  content: MessageContent
  /** The name of the file's field in error messages, if it differs from Interface A's. */
  fileField?: string
  /** The message that this one answers or reacts to: one of its two ids, and the field that named it. */
  replyTo: { id: string; field: string } | null
  /** The member who sends; null for a program. */
  memberId: string | null
  /** Whether contacts that do not allow broadcasts are left out. */
  isPromotional: boolean
  /** The recipient of the broadcast that the message belongs to; null for other messages. */
  recipient: BroadcastRecipient | null
  cause: Cause
}

/** Maximum duration of a request. Retries count; the download and upload of a file do not. */
const REQUEST_TIMEOUT_MS = 25_000

/**
 * Sends one message to an existing contact: records it, calls the upstream and records the outcome. If the request is
 * refused, nothing is recorded and it throws contact_not_found, contact_blocked, contact_opted_out, message_not_found,
 * contact_unreachable, account_restricted, not_supported (what the business API does not send to groups),
 * invalid_field, invalid_media, upstream_upload_failed, too_many_requests (no send slot in time) or service_unavailable
 * (the contact is locked or the file store is down).
 */
export async function sendMessage(
  given: Context,
  tenant: Tenant,
  channel: Channel,
  command: SendCommand,
): Promise<SendResult> {
  const ctx = loggingFor(given, command.cause)
  const leftMs = startCountdown(REQUEST_TIMEOUT_MS)
  const work: Work<SendResult> = async (ready, { leftMs: leftAfterUpload, log }) => {
    const timeLeft = requestTimeLeft(ctx, startCountdown(leftAfterUpload))
    const delivery = await deliver(ctx, channel, ready, { timeLeft, log })
    if (delivery.result === 'late') throw numberBusy(delivery.waitMs)
    if (delivery.result === 'not_recorded') throw explainRefusal(delivery.refusal, command)
    if (delivery.result !== 'taken') return delivery
    return (await findSendResult(ctx, tenant, command.id)) ?? { result: 'unknown', messageId: command.id }
  }
  return withReady(ctx, tenant, channel, { command, leftMs, work })
}

/**
 * Sends one message as a job, which comes back later: it waits at most a second for anything, and begins nothing once
 * `signal` is aborted. `not_accepted`: the message is recorded, and may be sent again. Throws like sendMessage.
 */
export function sendAsJob(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  { command, signal }: { command: SendCommand; signal: AbortSignal },
): Promise<SendResult | NotAccepted> {
  const work: Work<SendResult | NotAccepted> = async (ready, { log }) => {
    const waitMs = await waitForJobSlot(ctx, tenant, channel, { log, signal })
    if (waitMs !== null) throw numberBusy(waitMs)
    const delivery = await deliverOrPutBack(ctx, channel, ready, { log, signal })
    if (delivery.result === 'not_recorded') throw explainRefusal(delivery.refusal, command)
    if (delivery.result !== 'taken') return delivery
    const earlier = await findSendResult(ctx, tenant, command.id)
    if (earlier === null) throw new Error('the id of a message is taken, and there is no message')
    return earlier
  }
  return withReady(ctx, tenant, channel, { command, leftMs: () => 0, work })
}

/** What is done with a message whose file is uploaded; `leftMs`: the time that was left before the upload. */
type Work<Result> = (ready: ReadyMessage, send: { leftMs: number; log: SendLog }) => Promise<Result>

/** Checks a message and uploads its file, then works with it. `leftMs`: the time that it has, without the upload. */
async function withReady<Result>(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  { command, leftMs, work }: { command: SendCommand; leftMs: () => number; work: Work<Result> },
): Promise<Result> {
  await checkMember(ctx, tenant, command.memberId)
  refuseRestricted(channel.restrictions, command.content.type, ctx.clock())
  const message = draftOf(ctx, tenant, channel, command)
  await checkBeforeUpload(ctx, channel, command, { draft: message, leftMs })
  const leftAfterUpload = leftMs()
  const log = new SendLog(ctx.clock, command.cause.span)
  const { content, file } = await prepareContent(ctx, tenant, channel, { command, log })
  try {
    return await work({ message: withFileFacts(message, file), content }, { leftMs: leftAfterUpload, log })
  } catch (error) {
    // After other errors the message may be recorded, so the file stays; the cleanup job removes it if it is unused.
    if (error instanceof Problem && message.mediaId !== null) await dropFile(ctx, tenant, message.mediaId)
    throw error
  }
}

/** The context whose log names the request and its trace, if it has one. */
function loggingFor(ctx: Context, { requestId, trace }: Cause): Context {
  if (trace === null) return ctx
  return { ...ctx, log: ctx.log.child({ requestId, trace_id: trace.traceId, span_id: trace.spanId }) }
}

/**
 * Checks a message that is to be sent in `inMs` milliseconds, before work that takes long; writes nothing. Throws
 * contact_not_found, contact_blocked, contact_unreachable, not_supported, contact_opted_out, message_not_found,
 * account_restricted, too_many_requests.
 */
export async function checkMessage(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  { command, inMs }: { command: SendCommand; inMs: number },
): Promise<void> {
  refuseRestricted(channel.restrictions, command.content.type, new Date(ctx.clock().getTime() + inMs))
  const message = draftOf(ctx, tenant, channel, command)
  await checkContact(ctx, command, message, startCountdown(inMs + REQUEST_TIMEOUT_MS))
}

function draftOf(ctx: Context, tenant: Tenant, channel: Channel, command: SendCommand): OutgoingMessage {
  const { to, replyTo } = command
  return draftMessage(ctx, tenant, channel, { ...command, addresses: to.forms, replyToId: replyTo?.id ?? null })
}

/** Throws invalid_field if the member is not in the organization's team. */
export async function checkMember(ctx: Context, tenant: Tenant, memberId: string | null): Promise<void> {
  if (memberId === null || (await memberExists(ctx.database, tenant.id, memberId))) return
  throw new Problem('invalid_field', `memberId ${memberId} is not a member of this organization`)
}

/**
 * Checks contact and reply target before a file is fetched or a send slot is reserved. A message that needs neither is
 * not checked here: recording it does the same checks.
 */
async function checkBeforeUpload(
  ctx: Context,
  { number }: Channel,
  command: SendCommand,
  { draft, leftMs }: { draft: OutgoingMessage; leftMs: () => number },
): Promise<void> {
  if (draft.mediaId === null && number.messagesPerSecond === 0) return
  await checkContact(ctx, command, draft, leftMs)
  if (draft.mediaId === null) return
  const slot = await peekSendSlot(ctx.database, draft.organizationId, number)
  if (!slot.reserved) throw numberBusy(slot.waitMs)
}

async function checkContact(
  ctx: Context,
  command: SendCommand,
  draft: OutgoingMessage,
  leftMs: () => number,
): Promise<void> {
  const refusal = await checkRecipient(ctx.database, draft)
  if (refusal && !passesInTime(refusal, requestTimeLeft(ctx, leftMs))) throw explainRefusal(refusal, command)
}

/** Uploads the file, if there is one. */
async function prepareContent(
  ctx: Context,
  tenant: Tenant,
  { driver }: Channel,
  { command: { id, content, fileField }, log }: { command: SendCommand; log: SendLog },
): Promise<{ content: ReadyContent; file: UploadedMedia | null }> {
  const source = fileOf(content)
  if (source === null) return { content: content as ReadyContent, file: null }
  const field = fileField ?? source.field
  const file = await log.wait('file', () => uploadMedia(ctx, tenant, driver, { id, ...source, field }))
  return { content: withFile(content, { channelMediaId: file.channelMediaId }, file.filename), file }
}

/** MIME type, size and file name are known only after the upload. */
function withFileFacts(message: OutgoingMessage, file: UploadedMedia | null): OutgoingMessage {
  if (file === null) return message
  const { mimeType, size, filename } = file
  const facts = { mime_type: mimeType, file_size: size, ...(filename !== null && { filename }) }
  return { ...message, content: { ...asObject(message.content), ...facts } }
}

function explainRefusal(refusal: NotRecorded, command: SendCommand): Problem {
  const { digits, userId } = command.to
  switch (refusal.reason) {
    case 'no_contact':
      return new Problem(
        'contact_not_found',
        `No contact with the ${userId === undefined ? `number ${digits}` : `user id ${userId}`} in this organization: create the contact first (POST /contact), or give create = true`,
        { chat_id: digits },
      )
    case 'blocked':
      return contactBlocked(refusal.chatId)
    case 'unreachable':
      return new Problem(
        'contact_unreachable',
        refusal.isGroup
          ? `${refusal.chatId} is a group that this number is not in, as far as WhatsApp has reported: answer through the number or device that its messages come through`
          : `${refusal.chatId} no longer has a phone number or a user id on this number: use the person's other contact`,
        { chat_id: refusal.chatId },
      )
    case 'unfit':
      return new Problem(
        'not_supported',
        `${refusal.chatId} is a group, and WhatsApp's business API sends only texts, files and templates of both to groups: ${whyNotToGroup(command.content) ?? command.content.type} cannot be sent there`,
        { chat_id: refusal.chatId },
      )
    case 'not_found':
      return new Problem(
        'message_not_found',
        `${command.replyTo?.field} "${command.replyTo?.id}" is not a message that WhatsApp has accepted in the conversation with ${refusal.chatId}`,
      )
    case 'unwanted':
      return new Problem('contact_opted_out', `The contact ${refusal.chatId} does not want broadcasts`, {
        chat_id: refusal.chatId,
        reason: refusal.optedOut ? SKIP_REASONS.optedOut : SKIP_REASONS.unwanted,
      })
    case 'withdrawn':
      return new Problem('contact_not_found', `The contact ${refusal.chatId} is no longer a recipient of the broadcast`)
    case 'paced':
      return tooManyRequests(`WhatsApp's limit of messages to ${refusal.chatId} is reached`, refusal.waitMs)
  }
}

/** The problem of a number whose next send slot comes in `waitMs`. */
export function numberBusy(waitMs: number): Problem {
  return tooManyRequests("The organization's number is already sending at its maximum rate", waitMs)
}

function tooManyRequests(reason: string, waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Problem('too_many_requests', `${reason}: try again in ${seconds} s`, { retry_after: seconds })
}

/** Removes the file of a refused message. If that fails, the cleanup job removes it later. */
async function dropFile(ctx: Context, tenant: Tenant, mediaId: string): Promise<void> {
  await removeUnattachedFile(ctx, tenant.id, mediaId).catch((error: unknown) => {
    ctx.log.warn(
      { err: error, organizationId: tenant.id, mediaId },
      'the file of a refused message could not be removed',
    )
  })
}
