import { type Refusal, refusals } from './errors.js'
import { isJsonObject, type JsonObject } from './json.js'
import { isUserId, phoneDigits } from './phones.js'

/** To whom a send goes: `digits` for a phone number, `userId` for a person without one; `input` is the text as sent. */
export type Recipient =
  | { kind: 'phone'; digits: string; input: string }
  | { kind: 'user'; userId: string; input: string }

/** What a body posted to `/messages` asks for. */
export type Request =
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'mark-read' }
  | { kind: 'send'; type: string; recipient: Recipient; callbackData: string | undefined }

type ContentCheck = (body: JsonObject) => Refusal | null

/** The kinds of message that this upstream takes, each with its check. */
const contentChecks: Record<string, ContentCheck> = { text: checkText, reaction: checkReaction }

const maxTextLength = 4096
const maxCallbackDataLength = 512

/** Reads a body as the upstream does and refuses it with the upstream's error where the upstream would. */
export function readRequest(body: JsonObject): Request {
  const product = body.messaging_product
  if (product === undefined) return refused(refusals.invalidParameter('The parameter messaging_product is required.'))
  if (product !== 'whatsapp') {
    return refused(refusals.invalidParameter(`Param messaging_product must be one of {WHATSAPP} - got "${product}".`))
  }
  return body.status === undefined ? readSend(body) : readMarkRead(body)
}

function readMarkRead(body: JsonObject): Request {
  if (body.status !== 'read') {
    return refused(refusals.invalidParameter(`Param status must be one of {READ} - got "${body.status}".`))
  }
  if (!isFilled(body.message_id)) return refused(refusals.invalidParameter('The parameter message_id is required.'))
  return { kind: 'mark-read' }
}

function readSend(body: JsonObject): Request {
  const recipient = readRecipient(body)
  if ('status' in recipient) return refused(recipient)
  const type = body.type ?? 'text'
  if (typeof type !== 'string') return refused(refusals.invalidParameter('Param type must be a string.'))
  const check = Object.hasOwn(contentChecks, type) ? contentChecks[type] : undefined
  if (!check) return refused(refusals.unsupportedType())
  const refusal = checkEnvelope(body) ?? check(body)
  if (refusal) return refused(refusal)
  const callbackData = body.biz_opaque_callback_data
  return { kind: 'send', type, recipient, callbackData: typeof callbackData === 'string' ? callbackData : undefined }
}

/** `to` goes before `recipient` when both are there. */
function readRecipient(body: JsonObject): Recipient | Refusal {
  if (isFilled(body.to)) {
    const digits = phoneDigits(body.to)
    return digits ? { kind: 'phone', digits, input: body.to } : refusals.malformedPhone()
  }
  if (isFilled(body.recipient)) {
    const { recipient } = body
    if (isUserId(recipient)) return { kind: 'user', userId: recipient, input: recipient }
    return refusals.invalidValue('The recipient is not a valid user id.')
  }
  return refusals.invalidParameter('The parameter to is required.')
}

function checkEnvelope(body: JsonObject): Refusal | null {
  const recipientType = body.recipient_type
  if (recipientType !== undefined && recipientType !== 'individual') {
    return refusals.invalidParameter(`Param recipient_type must be one of {INDIVIDUAL} - got "${recipientType}".`)
  }
  if (body.context !== undefined && !(isJsonObject(body.context) && isFilled(body.context.message_id))) {
    return refusals.invalidParameter("The parameter context['message_id'] is required.")
  }
  const callbackData = body.biz_opaque_callback_data
  if (callbackData === undefined) return null
  if (typeof callbackData === 'string' && lengthOf(callbackData) <= maxCallbackDataLength) return null
  return refusals.invalidParameter(
    `Param biz_opaque_callback_data must be a string of at most ${maxCallbackDataLength} characters.`,
  )
}

function checkText(body: JsonObject): Refusal | null {
  const { text } = body
  if (!isJsonObject(text) || text.body === undefined || text.body === '') {
    return refusals.invalidParameter("The parameter text['body'] is required.")
  }
  if (typeof text.body !== 'string') return refusals.invalidParameter("Param text['body'] must be a string.")
  if (lengthOf(text.body) > maxTextLength) {
    return refusals.invalidParameter(`Param text['body'] must be at most ${maxTextLength} characters long.`)
  }
  if (text.preview_url !== undefined && typeof text.preview_url !== 'boolean') {
    return refusals.invalidValue('text: preview_url must be a boolean')
  }
  return null
}

function checkReaction(body: JsonObject): Refusal | null {
  const { reaction } = body
  if (!isJsonObject(reaction)) return refusals.missing('reaction is required')
  if (!isFilled(reaction.message_id)) return refusals.missing('reaction: message_id is required')
  if (reaction.emoji === undefined) return refusals.missing('reaction: emoji is required')
  if (typeof reaction.emoji !== 'string') return refusals.invalidValue('reaction: emoji must be a string')
  return null
}

function refused(refusal: Refusal): Request {
  return { kind: 'refused', refusal }
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Characters are counted as code points; a text short enough in UTF-16 units needs no count. */
function lengthOf(text: string): number {
  return text.length <= maxCallbackDataLength ? text.length : Array.from(text).length
}
