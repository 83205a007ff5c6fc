import { asObject, isJsonObject, type JsonObject, parseJsonObject } from '../../../lib/text/json.js'
import { parseJsonInSteps } from '../../../lib/text/json-steps.js'
import { maxStorableDepth, toStorableDeep } from '../../../lib/text/text.js'

/** Parsing a smaller body takes at most a few milliseconds. */
const SMALL_BYTES = 64 * 1_024
const LIMITS = { maxDepth: maxStorableDepth, maxFields: Number.POSITIVE_INFINITY, maxEscaped: Number.POSITIVE_INFINITY }

/**
 * Parses the body of a callback, a large one in steps between which other requests have their turn. Null if it is not a
 * JSON object.
 */
export async function parseBody(body: Buffer): Promise<JsonObject | null> {
  return (await parse(body)).envelope
}

/** The same of a stored callback, with strings and keys that can be stored again. Throws if it is not JSON. */
export async function parseStoredBody(body: Buffer): Promise<JsonObject> {
  const { envelope, isStorable } = await parse(body)
  if (envelope === null) throw new Error('the body of the callback is not a JSON object')
  return isStorable ? envelope : asObject(toStorableDeep(envelope))
}

/** `isStorable`: it is known that everything in it can be stored. */
async function parse(body: Buffer): Promise<{ envelope: JsonObject | null; isStorable: boolean }> {
  const text = body.toString()
  const read = body.length > SMALL_BYTES ? await parseJsonInSteps(text, LIMITS) : null
  // Deeper ones are rare, and stored nevertheless.
  if (read === null || read.outcome === 'too_large') return { envelope: parseJsonObject(text), isStorable: false }
  if (read.outcome === 'malformed') return { envelope: null, isStorable: false }
  return { envelope: isJsonObject(read.value) ? read.value : null, isStorable: read.isStorable }
}
