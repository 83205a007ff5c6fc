import { asObject, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { Problem } from '../../../model/problem.js'

/** How a kind of message is written: flat, or, by older clients, within an object of its own (facts 2). */
export interface BodyShape {
  /** The object in which older clients write the fields. */
  wrapper: string | null
  /** The fields, each with the other names that it goes by. */
  fields: Record<string, readonly string[]>
}

/** The fields that messages have in common; older clients write them in `options`. */
const COMMON_FIELDS: BodyShape['fields'] = {
  number: [],
  delay: [],
  linkPreview: [],
  quoted: [],
  mentioned: [],
  mentionsEveryOne: ['everyOne'],
}
/** An empty one takes a reaction back; every other field that is empty is as good as left out. */
const MAY_BE_EMPTY = 'reaction'
/** The rows of the sections of a list stand as deep as this. */
const MAX_NULL_DEPTH = 4

/** What else than its one form a field may be written in; what is none of them is left as it is, and refused later. */
const NORMALIZERS: Record<string, (value: unknown) => unknown> = {
  number: normalizeNumber,
  delay: normalizeDelay,
  quoted: normalizeQuoted,
  buttons: normalizeButtons,
  mediatype: normalizeKind,
  mediaMessage: normalizeMedia,
  media: normalizeFile,
  audio: normalizeFile,
  video: normalizeFile,
  sticker: normalizeFile,
  contact: withoutNulls,
  sections: withoutNulls,
  key: withoutNulls,
}

/**
 * The fields of a message in one form, whichever generation of clients wrote them: flat, under their newest names. What nobody
 * knows is left out, and so is what is null or empty. A `number` may come as digits that JSON calls a number, a `delay` as a text
 * of digits; nothing else is coerced. Throws invalid_field where a field is given twice, and not the same.
 */
export function normalizeBody(body: JsonObject, { wrapper, fields }: BodyShape): JsonObject {
  const options = asObject(body.options)
  const sources = [body, wrappedFields(body, wrapper, fields), options, asObject(options.mentions)]
  const normalized: JsonObject = {}
  for (const [name, others] of Object.entries({ ...COMMON_FIELDS, ...fields })) {
    const given = findOnlyValue(sources, [name, ...others])
    const value = NORMALIZERS[name] ? NORMALIZERS[name](given) : given
    if (value !== undefined) normalized[name] = value
  }
  return normalized
}

/** A list of contacts is written without an object around it. */
function wrappedFields(body: JsonObject, wrapper: string | null, fields: BodyShape['fields']): JsonObject {
  const value = wrapper === null ? undefined : body[wrapper]
  return Array.isArray(value) ? { [Object.keys(fields)[0] as string]: value } : asObject(value)
}

function findOnlyValue(sources: readonly JsonObject[], names: readonly [string, ...string[]]): unknown {
  const [name] = names
  const given = sources
    .flatMap((place) => names.map((one) => (Object.hasOwn(place, one) ? place[one] : undefined)))
    .filter((value) => !isEmpty(value) || (name === MAY_BE_EMPTY && value === ''))
  const texts = given.filter((value) => typeof value !== 'object').map(String)
  if (new Set(texts).size <= 1) return given[0]
  throw new Problem('invalid_field', `${name} is given twice, and not the same: give it once`)
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === null || value === ''
  return Object.keys(value).length === 0
}

function normalizeNumber(number: unknown): unknown {
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? String(number) : number
}

function normalizeDelay(delay: unknown): unknown {
  return typeof delay === 'string' && /^\d{1,9}$/.test(delay) ? Number(delay) : delay
}

/** Of the message that is answered only its id counts: the message is known here. */
function normalizeQuoted(quoted: unknown): unknown {
  if (!isJsonObject(quoted)) return quoted
  const { key } = quoted
  if (isEmpty(key)) return undefined
  if (!isJsonObject(key)) return { key }
  return isEmpty(key.id) ? undefined : { key: { id: key.id } }
}

function normalizeButtons(buttons: unknown): unknown {
  if (!Array.isArray(buttons)) return buttons
  return buttons.map((given: unknown) => {
    const button = withoutNulls(given)
    if (!isJsonObject(button)) return button
    const { type = 'reply', displayText = button.buttonText, id = button.buttonId } = button
    return { type, displayText, id }
  })
}

function normalizeKind(kind: unknown): unknown {
  return typeof kind === 'string' ? kind.toLowerCase() : kind
}

/** A file within the fields of another message. */
function normalizeMedia(given: unknown): unknown {
  const message = withoutNulls(given)
  if (!isJsonObject(message)) return message
  const { mediatype = message.mediaType, media, fileName } = message
  return {
    mediatype: normalizeKind(mediatype),
    media: normalizeFile(media),
    ...(fileName !== undefined && { fileName }),
  }
}

/** An address may stand in an object of its own. */
function normalizeFile(file: unknown): unknown {
  return isJsonObject(file) && typeof file.url === 'string' ? file.url : file
}

/** Null says the same as nothing in the objects of a field too. */
function withoutNulls(value: unknown, levels = MAX_NULL_DEPTH): unknown {
  if (levels === 0) return value
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, levels - 1))
  if (!isJsonObject(value)) return value
  const given = Object.entries(value).filter(([, item]) => item !== null)
  return Object.fromEntries(given.map(([name, item]) => [name, withoutNulls(item, levels - 1)]))
}
