import { asObject, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { Problem } from '../../../model/problem.js'
import { saysWhen } from '../../../model/unknown-fields.js'

/** The forms of a message's body: flat, or, from older clients, with its own fields in an object. */
export interface BodyShape {
  /** The name of the object that holds the fields in bodies of older clients. */
  wrapper: string | null
  /** The fields, each with its alternative names. */
  fields: Record<string, readonly string[]>
}

/** The fields that all messages have. Older clients send them in `options`. */
const COMMON_FIELDS: BodyShape['fields'] = {
  number: [],
  delay: [],
  linkPreview: [],
  quoted: [],
  mentioned: [],
  mentionsEveryOne: ['everyOne'],
}
/** An empty reaction removes the reaction. Every other empty field counts as not given. */
const MAY_BE_EMPTY = 'reaction'

/** Fields with alternative forms. Anything else stays as it is, and fails validation later. */
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
}

/**
 * Brings the body of any generation of clients into one form: flat, with the newest field names. Unknown, null and
 * empty fields are removed. `number` may be a JSON number and `delay` a string of digits; nothing else is coerced.
 * Throws invalid_field if a field is given twice with different values, and for a time at which to send.
 */
export function normalizeBody(body: JsonObject, { wrapper, fields }: BodyShape): JsonObject {
  const time = Object.keys(body).find((name) => saysWhen(name, body[name]))
  if (time !== undefined) {
    throw new Problem('invalid_field', `${time} is not known here: leave it out, since messages are sent at once`)
  }
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

/** The fields within the wrapper. A list of contacts has no further object around it. */
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
  throw new Problem('invalid_field', `${name} is given twice with different values: give it once`)
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

/** Only the id of the quoted message is kept: its content is in the database. */
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
    const button = withoutEmpty(given)
    if (!isJsonObject(button)) return button
    const { type = 'reply', displayText = button.buttonText, id = button.buttonId, url } = button
    return { type, displayText, id, ...(url !== undefined && { url }) }
  })
}

function normalizeKind(kind: unknown): unknown {
  return typeof kind === 'string' ? kind.toLowerCase() : kind
}

/** The file above a message with buttons. */
function normalizeMedia(given: unknown): unknown {
  const message = withoutEmpty(given)
  if (!isJsonObject(message)) return message
  const { mediatype = message.mediaType, media, fileName } = message
  return {
    mediatype: normalizeKind(mediatype),
    media: normalizeFile(media),
    ...(fileName !== undefined && { fileName }),
  }
}

/** Some clients send a file's URL as `{"url": …}`. */
function normalizeFile(file: unknown): unknown {
  return isJsonObject(file) && typeof file.url === 'string' ? file.url : file
}

function withoutEmpty(value: unknown): unknown {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([, item]) => !isEmpty(item))) : value
}
