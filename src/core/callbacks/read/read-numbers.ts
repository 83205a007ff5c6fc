import { asObject, asObjects, type JsonObject } from '../../../lib/text/json.js'
import { readId } from './read-sender.js'

/** A callback names few numbers; the rest of a crafted one is not noted. */
const MAX_NUMBERS = 20

/** The ids of the business numbers that a stored callback is about. */
export function readNumbers(envelope: JsonObject): string[] {
  const ids = asObjects(envelope.entry)
    .flatMap(({ changes }) => asObjects(changes))
    .flatMap(({ value }) => readId(asObject(asObject(value).metadata).phone_number_id) ?? [])
  return [...new Set(ids)].slice(0, MAX_NUMBERS)
}
