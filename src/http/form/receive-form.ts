import { isUtf8 } from 'node:buffer'
import type { EventEmitter } from 'node:events'
import { type Readable, Transform } from 'node:stream'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { excerpt } from '../../lib/text/text.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'
import type { HeldBody } from '../body-memory.js'
import { requireUtf8 } from '../charset.js'
import { bodyTooLarge } from '../json-body.js'
import { heldStream } from './held-stream.js'
import { type ReceivedFile, type ReserveSpoolPath, writeBytes } from './received-file.js'

/** The name of the part that holds the file. */
const FILE_PART = 'file'
/** How much is parsed of a form that has passed a limit, at most. */
const SLICE_BYTES = 8_192
/** All fields together, as the rest of a JSON body. */
const MAX_FIELDS_BYTES = MEBIBYTE
const LIMITS = { fieldNameSize: 100, fieldSize: 262_144, fields: 64, files: 4, parts: 68, headerPairs: 32 }

/** A `multipart/form-data` body. */
export interface Form {
  /** The values of the fields by name, as UTF-8. */
  fields: Map<string, Buffer>
  /** The part `file`; null if there is none. */
  file: ReceivedFile | null
}

/**
 * Reads the fields of a `multipart/form-data` body, and streams the part `file` into the spool. Throws invalid_field,
 * payload_too_large, too_many_requests, service_unavailable, unsupported_media_type.
 */
export async function receiveForm(
  request: FastifyRequest,
  source: Readable,
  reserveSpoolPath: ReserveSpoolPath,
): Promise<Form> {
  requireUtf8(request.headers['content-type'], 'the form')
  const { bodyLimit } = request.routeOptions
  if (Number(request.headers['content-length']) > bodyLimit) throw bodyTooLarge(request)
  const { stream, held } = heldStream(request, source)
  return readForm(request, stream, held, reserveSpoolPath)
}

function readForm(
  request: FastifyRequest,
  source: Readable,
  held: HeldBody,
  reserveSpoolPath: ReserveSpoolPath,
): Promise<Form> {
  return new Promise((resolve, reject) => {
    const fields = new Map<string, Buffer>()
    let fieldBytes = 0
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
    const parser = createParser(request.headers['content-type'] ?? '', abort)
    if (parser === null) return abort(malformed('its Content-Type names no boundary'))
    parser.on('field', (name, value, isNameCut, isCut) => {
      if (isNameCut || isCut) return abort(malformed(`the field ${excerpt(name)} is too long`))
      const bytes = Buffer.from(value, 'latin1')
      if (!isUtf8(bytes)) return abort(notUtf8(`the field ${excerpt(name)}`))
      fieldBytes += bytes.length
      if (fieldBytes > MAX_FIELDS_BYTES) return abort(fieldsTooLarge())
      fields.set(name, bytes)
      try {
        held.reserve(fieldBytes)
      } catch (problem) {
        abort(problem)
      }
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
      if (size > request.routeOptions.bodyLimit) abort(bodyTooLarge(request))
    })
    const brokenOff = malformed('the connection was closed before its end')
    source.once('error', (error) => abort(error instanceof Problem ? error : brokenOff))
    source.once('close', () => {
      if (!source.readableEnded) abort(brokenOff)
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

/** A parser that gives the bytes of fields as Latin-1. */
function createParser(contentType: string, abort: (problem: unknown) => void) {
  try {
    const parser = new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS, defCharset: 'latin1' })
    watchHeaders(parser, abort)
    return parser
  } catch {
    return null
  }
}

/** The headers of a part, by name in lower case, their bytes as Latin-1. */
type PartHeaders = Record<string, string[] | undefined>

/**
 * Checks the headers of each part before the parser reads them, which does not report the charset that one names, and
 * replaces bytes that are not UTF-8.
 */
function watchHeaders(parser: BusboyInstance, abort: (problem: unknown) => void): void {
  const { parser: parts } = (parser as unknown as { _parser: { parser: EventEmitter } })._parser
  parts.prependListener('part', (part: EventEmitter) => {
    part.prependListener('header', (headers: PartHeaders) => {
      const { 'content-type': types, 'content-disposition': dispositions = [] } = headers
      try {
        requireUtf8(types?.[0], 'the parts of the form')
        if (!isUtf8(Buffer.from(dispositions.join(''), 'latin1'))) throw notUtf8('the name of a part or of its file')
      } catch (problem) {
        abort(problem)
      }
      // The charset is known to be UTF-8 now.
      if (types) headers['content-type'] = types.map((type) => type.split(';')[0] as string)
    })
  })
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

function notUtf8(what: string): Problem {
  return new Problem('invalid_json', `The request body is not UTF-8: ${what} has other bytes. Encode the form as UTF-8`)
}

function fieldsTooLarge(): Problem {
  return new Problem(
    'payload_too_large',
    `The fields of the form have more than ${MAX_FIELDS_BYTES} bytes together, the most that this endpoint takes`,
  )
}

function malformed(why: string): Problem {
  return new Problem('invalid_field', `The request body is not a valid multipart form: ${why}`)
}
