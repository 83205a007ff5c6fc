import type { Static, TObject } from 'typebox'
import type { FileConversion } from '../../../core/media/convert.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { findDropped } from '../../../lib/text/json-file-reader.js'
import { compileGiven } from '../../../model/given.js'
import { compileSchema, findInputProblem } from '../../../model/input.js'
import type { FileSource, MessageContent } from '../../../model/messages/content.js'
import { Problem } from '../../../model/problem.js'
import type { BodyShape } from '../body/normalize.js'

/** The message that a body asks to send. */
export interface SendRequest {
  content: MessageContent
  /** The format that the file is converted to first; undefined: it is sent unchanged. */
  conversion?: FileConversion
  /** The recipient and the field that names it, if that is not `number`. */
  recipient?: { number: string; field: string }
  /** The reply target and the field that names it, if that is not `quoted`. */
  replyTo?: { id: string; field: string }
}

/** A file given in a body. */
export interface RequestFile {
  source: FileSource
  /** Whether it was given as base64, and so without a file name. */
  isBase64: boolean
}

/** A type of message, sent by `POST /message/{name}/{instance}`. */
export interface SendVerb {
  /** The names in the path. The first one is the preferred name. */
  names: readonly [string, ...string[]]
  summary: string
  shape: BodyShape
  /** The field that holds the file; null if the message has none. */
  fileField: string | null
  schema: TObject
  /** Reads a normalized body. Throws missing_field, invalid_field, invalid_media, not_supported. */
  read: (fields: JsonObject, file: RequestFile | null) => SendRequest
}

/** `read` gets the validated body. `file` is null only if `fileField` is. */
interface SendVerbOptions<Schema extends TObject> extends Omit<SendVerb, 'schema' | 'read'> {
  schema: Schema
  read: (body: Static<Schema>, file: RequestFile) => SendRequest
}

/** Creates a verb that validates bodies against its schema before it reads them. */
export function sendVerb<Schema extends TObject>({ schema, read, ...parts }: SendVerbOptions<Schema>): SendVerb {
  const check = compileSchema(schema)
  const dropNotGiven = compileGiven(schema)
  return {
    ...parts,
    schema,
    read: (fields, file) => {
      dropNotGiven(fields)
      const problem = findInputProblem(check, schema, fields, 'The request body')
      if (problem) throw problem
      const long = findDropped(fields)
      if (long !== null) throw new Problem('invalid_field', `${long} is too long`)
      return read(fields as Static<Schema>, file as RequestFile)
    },
  }
}
