import { type ReceivedFile, writeBase64 } from '../../../http/form/received-file.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { Problem } from '../../../model/problem.js'
import { notBase64 } from '../body/json.js'
import type { Body } from '../body/receive.js'
import { fileAtUrl } from './files.js'
import type { RequestFile, SendVerb } from './verb.js'

/** The file of a message and the other fields. `fingerprint`: what makes two requests the same. */
export interface ExtractedFile {
  file: RequestFile | null
  fields: JsonObject
  fingerprint: JsonObject
}

/**
 * Separates the file from the fields of a normalized body. The file is the part of a form, long base64 already
 * received, a URL, or short base64. Throws missing_field, invalid_field, invalid_media, too_many_requests.
 */
export async function extractFile(
  { fileField: name }: SendVerb,
  normalized: JsonObject,
  { file, marker, reserveSpoolPath }: Body,
): Promise<ExtractedFile> {
  if (name === null) return { file: null, fields: normalized, fingerprint: normalized }
  const { [name]: given, ...fields } = normalized
  if (file !== null && (marker === null || given === marker)) return fromReceivedFile(file, marker !== null, fields)
  if (file !== null) throw new Problem('invalid_field', `${name} is given twice: give it once`)
  if (given === undefined || given === '') {
    throw new Problem('missing_field', `${name} is required: a URL, base64, or the part "file" of a form`)
  }
  if (typeof given !== 'string') throw notString(name)
  const remote = fileAtUrl(name, given)
  if (remote) return { file: remote, fields, fingerprint: normalized }
  return fromReceivedFile(await receiveText(given, reserveSpoolPath), true, fields)
}

function notString(name: string): Problem {
  return new Problem('invalid_field', `${name} must be a string: an http(s) URL or base64`)
}

function fromReceivedFile(
  { path, sha256, filename }: ReceivedFile,
  isBase64: boolean,
  given: JsonObject,
): ExtractedFile {
  const fields = withName(given, filename)
  return { file: { source: { path }, isBase64 }, fields, fingerprint: { ...fields, file: sha256 } }
}

/** The file name of a form's part counts as the field `fileName` if that is not given, and is validated like it. */
function withName(fields: JsonObject, filename: string | null): JsonObject {
  return filename === null ? fields : { fileName: filename, ...fields }
}

/** Decodes base64 that was too short to be streamed into the spool. */
async function receiveText(text: string, reserveSpoolPath: Body['reserveSpoolPath']): Promise<ReceivedFile> {
  const writer = await writeBase64(await reserveSpoolPath())
  await writer.write(Buffer.from(text))
  const file = await writer.end()
  if (file === null) throw notBase64()
  return file
}
