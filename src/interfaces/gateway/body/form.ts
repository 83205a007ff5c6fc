import { type Readable, Transform } from 'node:stream'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import type { JsonObject } from '../../../lib/text/json.js'
import { excerpt } from '../../../lib/text/text.js'
import { Problem } from '../../../model/problem.js'
import { MAX_MESSAGE_BYTES, type Received, type ReserveSpoolPath, tooLarge } from './received.js'
import { type ReceivedFile, writeBytes } from './received-file.js'

/** The name of the part that holds the file. */
const FILE_PART = 'file'
/** The fields with JSON values. All others are strings. */
const JSON_FIELDS = new Set([
  ...['delay', 'encoding', 'linkPreview', 'mentionsEveryOne', 'everyOne', 'mentioned', 'notConvertSticker'],
  ...['quoted', 'options', 'mediaMessage', 'audioMessage', 'stickerMessage'],
])
/** How much is parsed of a form that has passed a limit, at most. */
const SLICE_BYTES = 8_192
const LIMITS = { fieldNameSize: 100, fieldSize: 262_144, fields: 64, files: 4, parts: 68, headerPairs: 32 }

/**
 * Reads the fields of a `multipart/form-data` body, and streams the part `file` into the spool. Throws invalid_field,
 * payload_too_large, too_many_requests.
 */
export async function receiveForm(
  source: Readable,
  contentType: string,
  reserveSpoolPath: ReserveSpoolPath,
): Promise<Received> {
  const { fields, file } = await readForm(source, contentType, reserveSpoolPath)
  return { fields: readFields(fields), file, marker: null }
}

interface Form {
  fields: Map<string, string>
  file: ReceivedFile | null
}

function readForm(source: Readable, contentType: string, reserveSpoolPath: ReserveSpoolPath): Promise<Form> {
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>()
    let part: BusboyFileStream | null = null
    let receiving: Promise<ReceivedFile | null> = Promise.resolve(null)
    let size = 0

    /** Closes the file before it rejects, so that the caller can remove the file. */
    const abort = (problem: unknown) => {
      source.unpipe()
      slices.unpipe()
      part?.destroy(problem as Error)
      receiving.catch(() => undefined).finally(() => reject(problem))
    }
    const slices = cutIntoSlices()
    const parser = createParser(contentType)
    if (parser === null) return abort(malformed('its Content-Type names no boundary'))
    parser.on('field', (name, value, isNameCut, isCut) => {
      if (isNameCut || isCut) abort(malformed(`the field ${excerpt(name)} is too long`))
      fields.set(name, value)
    })
    parser.on('file', (name, bytes, filename) => {
      // An error may be emitted while no one reads the part. Without a listener it would end the process.
      bytes.on('error', () => undefined)
      if (name !== FILE_PART) return bytes.resume()
      if (part !== null) return abort(malformed(`it has two parts "${FILE_PART}"`))
      part = bytes
      receiving = receiveFile(bytes, filename || null, reserveSpoolPath)
      receiving.catch(abort)
    })
    for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) {
      parser.once(limit, () => abort(malformed('it has too many parts')))
    }
    parser.once('finish', () => receiving.then((file) => resolve({ fields, file }), reject))
    parser.on('error', (error) => abort(malformed((error as Error).message)))
    source.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_MESSAGE_BYTES) abort(tooLarge())
    })
    source.once('close', () => {
      if (!source.readableEnded) abort(malformed('the connection was closed before its end'))
    })
    source.pipe(slices).pipe(parser)
  })
}

/** The parser reads what it is given to its end, even after it has passed a limit: a chunk of 64 KB takes it 70 ms. */
function cutIntoSlices(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) this.push(chunk.subarray(at, at + SLICE_BYTES))
      next()
    },
  })
}

function createParser(contentType: string) {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS })
  } catch {
    return null
  }
}

async function receiveFile(
  bytes: BusboyFileStream,
  filename: string | null,
  reserveSpoolPath: ReserveSpoolPath,
): Promise<ReceivedFile | null> {
  const writer = await writeBytes(await reserveSpoolPath(), filename)
  try {
    for await (const chunk of bytes) await writer.write(chunk as Buffer)
  } catch (error) {
    await writer.end()
    throw error
  }
  return writer.end()
}

function readFields(fields: Map<string, string>): JsonObject {
  return Object.fromEntries(
    [...fields].map(([name, value]) => [name, JSON_FIELDS.has(name) ? readValue(name, value) : value]),
  )
}

function readValue(name: string, value: string): unknown {
  if (value === '') return undefined
  try {
    return JSON.parse(value)
  } catch {
    throw new Problem('invalid_field', `${name} "${excerpt(value)}" in the form must be written as JSON`)
  }
}

function malformed(why: string): Problem {
  return new Problem('invalid_field', `The request body is not a valid multipart form: ${why}`)
}
