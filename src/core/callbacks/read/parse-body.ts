import { asObject, isDeeperThan, type JsonObject, parseJsonObject } from '../../../lib/text/json.js'
import { maxStorableDepth, toStorableDeep } from '../../../lib/text/text.js'

/** Only escapes can stand for what cannot be stored: U+0000 and halves of surrogate pairs. */
const SUSPECT = /\\u(?:0000|d[89a-f])/i

/** Parses the body of a callback; null if it is not a JSON object. Bytes that are not UTF-8 become U+FFFD. */
export function parseBody(body: Buffer): JsonObject | null {
  return parseJsonObject(body.toString())
}

/** The same of a stored callback, with strings and keys that can be stored again. Throws if it is not JSON. */
export function parseStoredBody(body: Buffer): JsonObject {
  const text = body.toString()
  const envelope = parseJsonObject(text)
  if (envelope === null) throw new Error('the body of the callback is not a JSON object')
  const isStorable = !SUSPECT.test(text) && !isDeeperThan(envelope, maxStorableDepth)
  return isStorable ? envelope : asObject(toStorableDeep(envelope))
}
