import type { JsonObject } from '../../../lib/text/json.js'
import { MEBIBYTE } from '../../../lib/text/units.js'
import { Problem } from '../../../model/problem.js'
import type { ReceivedFile } from './received-file.js'

/** How large the body of a message may be, in bytes, its file included. */
export const MAX_MESSAGE_BYTES = 140 * MEBIBYTE

/** What was received of a body. */
export interface Received {
  fields: JsonObject
  /** A file that came in the body, other than as a short text. */
  file: ReceivedFile | null
  /** The text that stands in the fields in place of the file; null of a form, whose file is a part of its own. */
  marker: string | null
}

/** Gives the path in the spool for the file of the request. Throws too_many_requests. */
export type ReserveSpoolPath = () => Promise<string>

/** What a body answers that is larger than what is taken. */
export function tooLarge(): Problem {
  return new Problem(
    'payload_too_large',
    `The request body is larger than ${MAX_MESSAGE_BYTES} bytes, the most that this endpoint takes`,
  )
}
