import type { ReceivedFile } from '../../../http/form/received-file.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { MEBIBYTE } from '../../../lib/text/units.js'

/** Maximum size of a message's body with its file, in bytes. */
export const MAX_MESSAGE_BYTES = 140 * MEBIBYTE

/** A body as it was received. */
export interface Received {
  fields: JsonObject
  /** The file in the body; null if there is none or it is short base64 within `fields`. */
  file: ReceivedFile | null
  /** The text that replaces the file in `fields`; null for a form, where the file is a separate part. */
  marker: string | null
}
