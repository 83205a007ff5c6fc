import { type JsonObject, parseJsonObject } from '../../src/lib/text/json.js'
import type { MarkReadResponse, SendResponse } from '../../src/upstream/wire.js'
import { checkSender } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { newMessageId } from '../ids.js'
import type { AcceptedOutcome, SimulatedOutcome } from '../magic.js'
import { networkId } from '../numbers/phone-numbers.js'
import { checkFit } from '../templates/fit.js'
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
  const mismatch = request.type === 'template' ? checkFit(context, phoneNumberId, body.template as JsonObject) : null
  if (mismatch) return { kind: 'refused', refusal: mismatch }
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
  context.reports.report({ record: message, callbackData: send.callbackData, read, failure, startsAfterMs: afterMs })
  return answer === 'dropped' ? { kind: 'dropped' } : { kind: 'answered', body: responseOf(send, message), afterMs }
}

function messageOf(phoneNumberId: string, { recipient, type }: Send, text: string): SentMessage {
  const isPhone = recipient.kind === 'phone'
  return {
    id: newMessageId(),
    phone_number_id: phoneNumberId,
    to: isPhone ? recipient.digits : recipient.userId,
    wa_id: isPhone ? networkId(recipient.digits) : null,
    type,
    payload: text,
    accepted_at: Date.now(),
    statuses: [],
  }
}

function responseOf({ recipient, type }: Send, { id, user_id }: SentMessage): SendResponse {
  const { input } = recipient
  const ofNumber = { ...(user_id && { user_id }) }
  const person =
    recipient.kind === 'phone' ? { wa_id: networkId(recipient.digits), ...ofNumber } : { user_id: recipient.userId }
  const message = type === 'template' ? { id, message_status: 'accepted' } : { id }
  return { messaging_product: 'whatsapp', contacts: [{ input, ...person }], messages: [message] }
}

function recipientId(recipient: Recipient): string {
  return recipient.kind === 'phone' ? networkId(recipient.digits) : recipient.userId
}
