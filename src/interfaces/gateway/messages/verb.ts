import type { Static, TObject } from 'typebox'
import type { FileConversion } from '../../../core/media/convert.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { findDropped } from '../../../lib/text/json-file-reader.js'
import { compileSchema, findInputProblem } from '../../../model/input.js'
import type { GivenSource, MessageContent } from '../../../model/messages/content.js'
import { Problem } from '../../../model/problem.js'
import type { BodyShape } from '../body/normalize.js'

/** What a body asks to have sent. */
export interface SendRequest {
  content: MessageContent
  /** What its file is made into first; nothing where it is left out. */
  wanted?: FileConversion
  /** Whom it is for, where `number` does not tell, and the field that does. */
  recipient?: { number: string; field: string }
  /** The message that it is about, where `quoted` does not tell, and the field that does. */
  replyTo?: { id: string; field: string }
}

/** A file as a body gave it. */
export interface RequestFile {
  source: GivenSource
  /** Whether it stood in the body as a text. */
  isBase64: boolean
}

/** One kind of message that can be asked for. */
export interface SendVerb {
  /** The last but one part of the path; the first is the one to be used. */
  names: readonly [string, ...string[]]
  summary: string
  shape: BodyShape
  /** The field that is a file; null of a kind without one. */
  fileField: string | null
  schema: TObject
  /** Reads a folded body. Throws missing_field, invalid_field, invalid_media, not_supported. */
  read: (fields: JsonObject, file: RequestFile | null) => SendRequest
}

/** What a verb is made from; a verb with a file is always read with one. */
interface SendVerbOptions<Schema extends TObject> extends Omit<SendVerb, 'schema' | 'read'> {
  schema: Schema
  read: (body: Static<Schema>, file: RequestFile) => SendRequest
}

/** Makes a verb, whose bodies are held to its schema before they are read. */
export function sendVerb<Schema extends TObject>({ schema, read, ...parts }: SendVerbOptions<Schema>): SendVerb {
  const validate = compileSchema(schema)
  return {
    ...parts,
    schema,
    read: (fields, file) => {
      const problem = findInputProblem(validate, schema, fields, 'The request body')
      if (problem) throw problem
      const long = findDropped(fields)
      if (long !== null) throw new Problem('invalid_field', `${long} is too long`)
      return read(fields as Static<Schema>, file as RequestFile)
    },
  }
}
