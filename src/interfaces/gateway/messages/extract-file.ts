import type { JsonObject } from '../../../lib/text/json.js'
import { Problem } from '../../../model/problem.js'
import { notBase64 } from '../body/json.js'
import type { Body } from '../body/receive.js'
import { type ReceivedFile, writeBase64 } from '../body/received-file.js'
import { fileAtAddress } from './files.js'
import type { AskedFile, SendVerb } from './verb.js'

/** The file of a message, with the fields without it, and what tells its request from another one. */
export interface TakenFile {
  file: AskedFile | null
  fields: JsonObject
  fingerprint: JsonObject
}

/**
 * Takes the file out of a folded body: the part of a form, what has been received of a long text, an address, or a short text
 * of base64. Throws missing_field, invalid_field, invalid_media, too_many_requests.
 */
export async function takeFile(
  { fileField: name }: SendVerb,
  folded: JsonObject,
  { file, marker, giveSpace }: Body,
): Promise<TakenFile> {
  if (name === null) return { file: null, fields: folded, fingerprint: folded }
  const { [name]: given, ...fields } = folded
  if (file !== null && (marker === null || given === marker)) return received(file, marker !== null, fields)
  if (file !== null) throw new Problem('invalid_field', `${name} is given twice: give it once`)
  if (given === undefined || given === '') {
    throw new Problem('missing_field', `${name} is required: an address, base64, or the part "file" of a form`)
  }
  if (typeof given !== 'string') throw notText(name)
  const distant = fileAtAddress(name, given)
  if (distant) return { file: distant, fields, fingerprint: folded }
  return received(await receiveText(given, giveSpace), true, fields)
}

function notText(name: string): Problem {
  return new Problem('invalid_field', `${name} must be a text: an http(s) address or base64`)
}

function received({ path, sha256, filename }: ReceivedFile, isBase64: boolean, given: JsonObject): TakenFile {
  const fields = withName(given, filename)
  return { file: { source: { path }, isBase64 }, fields, fingerprint: { ...fields, file: sha256 } }
}

/** The name that a part of a form tells is a field like any other: where nobody gave one, and held to the same rules. */
function withName(fields: JsonObject, filename: string | null): JsonObject {
  return filename === null ? fields : { fileName: filename, ...fields }
}

/** A text that is too short to have been received as a file. */
async function receiveText(text: string, giveSpace: Body['giveSpace']): Promise<ReceivedFile> {
  const writer = await writeBase64(await giveSpace())
  await writer.write(Buffer.from(text))
  const file = await writer.end()
  if (file === null) throw notBase64()
  return file
}
