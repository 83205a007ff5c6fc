import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { isGroupId, isGroupOrHidden, isUserId, phoneDigits } from '../numbers/phone-numbers.js'
import { type ContentCheck, isFilled, isLonger, type KindOfUpload } from './content/checks.js'
import { checkContacts } from './content/contacts.js'
import { checkInteractive } from './content/interactive.js'
import { checkLocation } from './content/location.js'
import { mediaCheck } from './content/media.js'
import { checkPoll } from './content/poll.js'
import { checkReaction } from './content/reaction.js'
import { checkTemplate } from './content/template.js'
import { checkText } from './content/text.js'

/**
 * The recipient of a send: `digits` for a phone number, `userId` for a person without one, `groupId` for a group;
 * `input` is the text as sent.
 */
export type Recipient =
  | { kind: 'phone'; digits: string; input: string }
  | { kind: 'user'; userId: string; input: string }
  | { kind: 'group'; groupId: string; input: string }

/** The parsed body of a post to `/messages`. */
export type Request =
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'mark-read' }
  | { kind: 'send'; type: string; recipient: Recipient; callbackData: string | undefined }

/** The accepted message types, each with its check. */
const contentChecks: Record<string, ContentCheck> = {
  text: checkText,
  image: mediaCheck('image'),
  video: mediaCheck('video'),
  audio: mediaCheck('audio'),
  document: mediaCheck('document'),
  sticker: mediaCheck('sticker'),
  location: checkLocation,
  contacts: checkContacts,
  interactive: checkInteractive,
  template: checkTemplate,
  reaction: checkReaction,
}

/** A simulated phone also accepts polls, and no templates, because those belong to the business API. */
const { template: _none, ...others } = contentChecks
const phoneChecks: Record<string, ContentCheck> = { ...others, poll: checkPoll }

/** What groups get: texts, files and templates of both. */
const groupTypes = new Set(['text', 'image', 'video', 'audio', 'document', 'sticker', 'template'])

const maxCallbackDataLength = 512

/**
 * Reads a body, and refuses it with the upstream's error if the upstream would. A simulated phone may also write to
 * groups and mention people.
 */
export function readRequest(body: JsonObject, kindOfUpload: KindOfUpload, isPhone: boolean): Request {
  const product = body.messaging_product
  if (product === undefined) return refused(refusals.invalidParameter('The parameter messaging_product is required.'))
  if (product !== 'whatsapp') {
    return refused(refusals.invalidParameter(`Param messaging_product must be one of {WHATSAPP} - got "${product}".`))
  }
  return body.status === undefined ? readSend(body, kindOfUpload, isPhone) : readMarkRead(body)
}

function readMarkRead(body: JsonObject): Request {
  if (body.status !== 'read') {
    return refused(refusals.invalidParameter(`Param status must be one of {READ} - got "${body.status}".`))
  }
  if (!isFilled(body.message_id)) return refused(refusals.invalidParameter('The parameter message_id is required.'))
  const { typing_indicator: typing } = body
  if (typing === undefined || (isJsonObject(typing) && typing.type === 'text')) return { kind: 'mark-read' }
  return refused(refusals.invalidParameter("Param typing_indicator['type'] must be one of {TEXT}."))
}

function readSend(body: JsonObject, kindOfUpload: KindOfUpload, isPhone: boolean): Request {
  const recipient = readRecipient(body, isPhone)
  if ('status' in recipient) return refused(recipient)
  const type = body.type ?? 'text'
  if (typeof type !== 'string') return refused(refusals.invalidParameter('Param type must be a string.'))
  const checks = isPhone ? phoneChecks : contentChecks
  const check = Object.hasOwn(checks, type) ? checks[type] : undefined
  if (!check || (recipient.kind === 'group' && !groupTypes.has(type))) return refused(refusals.unsupportedType())
  const refusal = checkEnvelope(body, isPhone) ?? (isPhone ? checkMentions(body) : null) ?? check(body, kindOfUpload)
  if (refusal) return refused(refusal)
  const callbackData = body.biz_opaque_callback_data
  return { kind: 'send', type, recipient, callbackData: typeof callbackData === 'string' ? callbackData : undefined }
}

/** `to` takes precedence over `recipient`. */
function readRecipient(body: JsonObject, isPhone: boolean): Recipient | Refusal {
  if (body.recipient_type === 'group' && !isPhone) {
    if (!isFilled(body.to)) return refusals.invalidParameter('The parameter to is required.')
    if (isGroupId(body.to)) return { kind: 'group', groupId: body.to, input: body.to }
    return refusals.invalidValue('The parameter to is not a valid group id.')
  }
  if (isFilled(body.to)) {
    const digits = phoneDigits(body.to)
    return digits ? { kind: 'phone', digits, input: body.to } : refusals.malformedPhone()
  }
  if (isFilled(body.recipient)) {
    const { recipient } = body
    const isKnown = isUserId(recipient) || (isPhone && isGroupOrHidden(recipient))
    if (isKnown) return { kind: 'user', userId: recipient, input: recipient }
    return refusals.invalidValue('The recipient is not a valid user id.')
  }
  return refusals.invalidParameter('The parameter to is required.')
}

function checkEnvelope(body: JsonObject, isPhone: boolean): Refusal | null {
  const recipientType = body.recipient_type
  if (recipientType !== undefined && recipientType !== 'individual' && (recipientType !== 'group' || isPhone)) {
    return refusals.invalidParameter(
      `Param recipient_type must be one of {INDIVIDUAL, GROUP} - got "${recipientType}".`,
    )
  }
  if (body.context !== undefined && !(isJsonObject(body.context) && isFilled(body.context.message_id))) {
    return refusals.invalidParameter("The parameter context['message_id'] is required.")
  }
  const callbackData = body.biz_opaque_callback_data
  if (callbackData === undefined) return null
  if (typeof callbackData === 'string' && !isLonger(callbackData, maxCallbackDataLength)) return null
  return refusals.invalidParameter(
    `Param biz_opaque_callback_data must be a string of at most ${maxCallbackDataLength} characters.`,
  )
}

function checkMentions({ mentions }: JsonObject): Refusal | null {
  if (mentions === undefined || (Array.isArray(mentions) && mentions.every(isFilled))) return null
  return refusals.invalidValue('mentions must be an array of strings')
}

function refused(refusal: Refusal): Request {
  return { kind: 'refused', refusal }
}
