import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { receiveForm } from '../../../http/form/receive-form.js'
import type { ReserveSpoolPath } from '../../../http/form/received-file.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { countJsonValues, parseJsonBytes } from '../../../lib/text/json-bytes.js'
import { excerpt } from '../../../lib/text/text.js'
import { Problem } from '../../../model/problem.js'
import type { Received } from './received.js'

/** The fields with JSON values. All others are strings. */
const JSON_FIELDS = new Set([
  ...['delay', 'encoding', 'linkPreview', 'mentionsEveryOne', 'everyOne', 'mentioned', 'notConvertSticker'],
  ...['quoted', 'options', 'mediaMessage', 'audioMessage', 'stickerMessage'],
])
const MAX_VALUES = 2_000

/**
 * Reads the fields of a `multipart/form-data` body, and streams the part `file` into the spool. Throws as receiveForm,
 * and payload_too_large and invalid_field for values that are not JSON.
 */
export async function receiveMessageForm(
  request: FastifyRequest,
  source: Readable,
  reserveSpoolPath: ReserveSpoolPath,
): Promise<Received> {
  const { fields, file } = await receiveForm(request, source, reserveSpoolPath)
  return { fields: readFields(fields), file, marker: null }
}

function readFields(fields: Map<string, Buffer>): JsonObject {
  return Object.fromEntries(
    [...fields].map(([name, bytes]) => [name, JSON_FIELDS.has(name) ? readValue(name, bytes) : bytes.toString()]),
  )
}

function readValue(name: string, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (countJsonValues(bytes, MAX_VALUES) > MAX_VALUES) {
    throw new Problem('payload_too_large', `${name} in the form has more than ${MAX_VALUES} values`)
  }
  const read = parseJsonBytes(bytes)
  if (read.outcome === 'read') return read.value
  throw new Problem('invalid_field', `${name} "${excerpt(bytes.toString())}" in the form must be written as JSON`)
}
