import { Type } from 'typebox'
import { Maybe } from '../../../model/fields.js'
import type { FileFields, GivenFile } from '../../../model/messages/content.js'
import { Problem } from '../../../model/problem.js'

/** Longer than any id; what is none is answered as an unknown one. */
const MAX_ID = 100

/** A field for the id of an uploaded file. `instead`: the field for its URL. */
export const uploadedId = (instead: string) =>
  Maybe(
    Type.String({ maxLength: MAX_ID, description: `The id of a file uploaded by POST /media, instead of ${instead}` }),
  )

interface Given {
  url?: string | null | undefined
  id?: string | null | undefined
}

/** The file that a body names; null if it names none. Throws invalid_field if it names two. */
export function readGivenFile({ url, id }: Given, [urlField, idField]: FileFields): GivenFile | null {
  if (url && id) throw new Problem('invalid_field', `${urlField} and ${idField} exclude each other: give one`)
  if (id) return { mediaId: id }
  return url ? { url } : null
}

/** The same for a file that is required. `missing`: says so. Throws missing_field. */
export function requireGivenFile(given: Given, fields: FileFields, missing: string): GivenFile {
  const file = readGivenFile(given, fields)
  if (file !== null) return file
  throw new Problem('missing_field', `${missing}, unless ${fields[1]} is given`)
}
