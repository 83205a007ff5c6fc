import { type JsonObject, parseJsonObject } from '../../src/lib/text/json.js'
import type { MarkReadResponse, SendResponse } from '../../src/upstream/wire.js'
import { checkMessage } from '../accounts/access.js'
import { checkSender } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { newMessageId } from '../ids.js'
import type { AcceptedOutcome, SimulatedOutcome } from '../magic.js'
import { networkId } from '../numbers/phone-numbers.js'
import { checkFit, checkRecipient } from '../templates/fit.js'
import { failureOutcome } from './failures.js'
import type { SentMessage } from './message-record.js'
import { type Recipient, type Request, readRequest } from './validation.js'

/** The outcome of a post to `/messages`: refused, answered (after `afterMs`), or dropped without an answer. */
export type SendOutcome =
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'answered'; body: SendResponse | MarkReadResponse; afterMs: number }
  | { kind: 'dropped' }

type Send = Extract<Request, { kind: 'send' }>

/** Handles a post to `/{phone_number_id}/messages`: `authorization` is the header, `text` the body as received. */
export function handleSend(
  context: Context,
  phoneNumberId: string,
  authorization: string | undefined,
  text: string,
): SendOutcome {
  const outcome = decide(context, phoneNumberId, authorization, text)
  if (outcome.kind === 'refused') context.record.refused += 1
  return outcome
}

function decide(context: Context, phoneNumberId: string, authorization: string | undefined, text: string): SendOutcome {
  const notAllowed = checkSender(context, phoneNumberId, authorization)
  if (notAllowed) return { kind: 'refused', refusal: notAllowed }
  const body = parseJsonObject(text)
  if (!body) return { kind: 'refused', refusal: refusals.invalidParameter('The request body is not a JSON object.') }
  const isPhone = context.phones.has(phoneNumberId)
  const kindOfUpload = (mediaId: string) => context.media.kindOfUpload(phoneNumberId, mediaId)
  const request = readRequest(body, kindOfUpload, isPhone)
  if (request.kind === 'refused') return request
  if (request.kind === 'mark-read') return { kind: 'answered', body: { success: true }, afterMs: 0 }
  const to = request.recipient.kind === 'phone' ? request.recipient.digits : null
  const template = request.type === 'template' ? (body.template as JsonObject).name : undefined
  const forbidden = checkMessage(context, phoneNumberId, { to, template })
  if (forbidden) return { kind: 'refused', refusal: forbidden }
  const mismatch = request.type === 'template' ? checkFit(context, phoneNumberId, body.template as JsonObject) : null
  if (mismatch) return { kind: 'refused', refusal: mismatch }
  const isHidden = request.type === 'template' && request.recipient.kind !== 'phone'
  const noNumber = isHidden ? checkRecipient(context, phoneNumberId, body.template as JsonObject) : null
  if (noNumber) return { kind: 'refused', refusal: noNumber }
  const outcome = outcomeFor(context, phoneNumberId, request.recipient)
  if (outcome.kind === 'refused') return outcome
  const overLimit = isPhone ? null : checkLimits(context, phoneNumberId, request)
  if (overLimit) return { kind: 'refused', refusal: overLimit }
  return accept(context, messageOf(phoneNumberId, request, text), request, outcome)
}

function checkLimits({ limits }: Context, phoneNumberId: string, { recipient, type }: Send): Refusal | null {
  return (
    limits?.check(phoneNumberId, recipientId(recipient), { isTemplate: type === 'template', now: Date.now() }) ?? null
  )
}

/** A failure set for the recipient takes precedence over a magic number. */
function outcomeFor(context: Context, phoneNumberId: string, recipient: Recipient): SimulatedOutcome {
  const failure = context.failures.get(recipientId(recipient))
  return failure ? failureOutcome(failure) : context.magic.outcomeFor(phoneNumberId, recipient)
}

function accept(
  context: Context,
  written: SentMessage,
  send: Send,
  { answer, read, failure }: AcceptedOutcome,
): SendOutcome {
  const userId = context.userIds.get(recipientId(send.recipient))
  const message = { ...written, ...(userId && { user_id: userId }) }
  const afterMs = answer === 'slow' ? context.settings.slow_ms : 0
  context.record.accepted += 1
  if (context.settings.record) context.record.add(message)
  const isHeld = send.type === 'template' && context.settings.hold_templates
  if (!isHeld) {
    const members = context.groupMembers.get(message.group_id ?? '') ?? new Set()
    const reported = { record: message, callbackData: send.callbackData, read, failure, startsAfterMs: afterMs }
    context.reports.report({ ...reported, members: [...members] })
  }
  const body = responseOf(send, message, isHeld ? 'held_for_quality_assessment' : 'accepted')
  return answer === 'dropped' ? { kind: 'dropped' } : { kind: 'answered', body, afterMs }
}

function messageOf(phoneNumberId: string, { recipient, type }: Send, text: string): SentMessage {
  const isPhone = recipient.kind === 'phone'
  return {
    id: newMessageId(),
    phone_number_id: phoneNumberId,
    to: isPhone ? recipient.digits : recipientId(recipient),
    wa_id: isPhone ? networkId(recipient.digits) : null,
    ...(recipient.kind === 'group' && { group_id: recipient.groupId }),
    type,
    payload: text,
    accepted_at: Date.now(),
    statuses: [],
  }
}

function responseOf({ recipient, type }: Send, sent: SentMessage, messageStatus: string): SendResponse {
  const { input } = recipient
  const { id, group_id } = sent
  const person = personOf(recipient, sent)
  const ofGroup = { ...(group_id && { group_id }) }
  const message = type === 'template' ? { id, ...ofGroup, message_status: messageStatus } : { id, ...ofGroup }
  return { messaging_product: 'whatsapp', contacts: [{ input, ...person }], messages: [message] }
}

/** Of a group, its id stands for the number. */
function personOf(recipient: Recipient, { user_id }: SentMessage): { wa_id?: string; user_id?: string } {
  switch (recipient.kind) {
    case 'phone':
      return { wa_id: networkId(recipient.digits), ...(user_id && { user_id }) }
    case 'user':
      return { user_id: recipient.userId }
    case 'group':
      return { wa_id: recipient.groupId }
  }
}

function recipientId(recipient: Recipient): string {
  switch (recipient.kind) {
    case 'phone':
      return networkId(recipient.digits)
    case 'user':
      return recipient.userId
    case 'group':
      return recipient.groupId
  }
}
