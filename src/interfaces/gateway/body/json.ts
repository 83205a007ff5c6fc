import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { requireUtf8 } from '../../../http/charset.js'
import { heldStream } from '../../../http/form/held-stream.js'
import { type FileWriter, type ReserveSpoolPath, writeBase64 } from '../../../http/form/received-file.js'
import { bodyTooLarge, readJsonBody } from '../../../http/json-body.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { type FileSink, MAX_REST_BYTES, readJsonWithFile } from '../../../lib/text/json-file-reader.js'
import { Problem } from '../../../model/problem.js'
import type { Received } from './received.js'

/**
 * Reads a JSON body, and streams long base64 at one of the `paths` into the spool. Throws invalid_json, invalid_media,
 * payload_too_large, too_many_requests, service_unavailable, unsupported_media_type.
 */
export async function receiveJson(
  request: FastifyRequest,
  source: Readable,
  paths: ReadonlySet<string>,
  reserveSpoolPath: ReserveSpoolPath,
): Promise<Received> {
  let writer: FileWriter | null = null
  const openFile = async () => {
    writer = await writeBase64(await reserveSpoolPath())
    return writer
  }
  try {
    const { value, marker } = await receiveValue(request, source, paths, openFile)
    const file = (await endOf(writer)) ?? null
    writer = null
    if (marker !== null && file === null) throw notBase64()
    return { fields: (value ?? {}) as JsonObject, file, marker }
  } finally {
    await endOf(writer)
  }
}

/**
 * Reads a JSON body of which at most 1 MB is kept in memory: long strings go to `openFile` at one of the `paths`, and are
 * dropped elsewhere. Throws invalid_json, payload_too_large, too_many_requests, service_unavailable,
 * unsupported_media_type.
 */
export async function receiveValue(
  request: FastifyRequest,
  source: Readable,
  paths: ReadonlySet<string>,
  openFile: () => Promise<FileSink>,
): Promise<{ value: unknown; marker: string | null }> {
  requireUtf8(request.headers['content-type'], 'the body')
  const { bodyLimit } = request.routeOptions
  if (Number(request.headers['content-length']) > bodyLimit) throw bodyTooLarge(request)
  const { stream, held } = heldStream(request, source)
  try {
    const read = await readJsonWithFile(stream, {
      paths,
      openFile,
      onHeld: held.reserve,
      parse: (text) => {
        held.complete()
        return readJsonBody(request, text)
      },
      maxBytes: bodyLimit,
    })
    switch (read.outcome) {
      case 'malformed':
        throw new Problem('invalid_json', `The request body is not JSON: ${read.text}`)
      case 'too_big':
        throw read.of === 'all' ? bodyTooLarge(request) : restTooLarge()
      case 'read':
        return read
    }
  } catch (error) {
    if (!source.errored) throw error
    throw new Problem('invalid_json', 'The connection was closed before the end of the request body')
  }
}

async function endOf(writer: FileWriter | null): Promise<Awaited<ReturnType<FileWriter['end']>>> {
  return writer === null ? null : writer.end()
}

/** The error for a file given as a text that is neither a URL nor base64. */
export function notBase64(): Problem {
  return new Problem(
    'invalid_media',
    'Owned media must be a url or base64: the file given in the body is not valid base64',
    {
      reason: 'bad_base64',
    },
  )
}

function restTooLarge(): Problem {
  return new Problem(
    'payload_too_large',
    `The request body without its file is larger than ${MAX_REST_BYTES} bytes, the most that this endpoint takes`,
  )
}
