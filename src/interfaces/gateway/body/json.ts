import type { Readable } from 'node:stream'
import { readJsonBody } from '../../../http/json-body.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { MAX_REST_BYTES, readJsonWithFile } from '../../../lib/text/json-file-reader.js'
import { Problem } from '../../../model/problem.js'
import { MAX_MESSAGE_BYTES, type Received, type ReserveSpoolPath, tooLarge } from './received.js'
import { type FileWriter, writeBase64 } from './received-file.js'

/**
 * Reads a JSON body, and streams long base64 at one of the `paths` into the spool. Throws invalid_json, invalid_media,
 * payload_too_large, too_many_requests.
 */
export async function receiveJson(
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
    // Destroying the request with unread bytes would lose the response.
    const chunks = source.iterator({ destroyOnReturn: false })
    const read = await readJsonWithFile(chunks, {
      paths,
      openFile,
      parse: (text) => readJsonBody(text),
      maxBytes: MAX_MESSAGE_BYTES,
    })
    const file = (await endOf(writer)) ?? null
    writer = null
    switch (read.outcome) {
      case 'malformed':
        throw new Problem('invalid_json', `The request body is not JSON: ${read.text}`)
      case 'too_big':
        throw read.of === 'all' ? tooLarge() : restTooLarge()
      case 'read':
        if (read.marker !== null && file === null) throw notBase64()
        return { fields: (read.value ?? {}) as JsonObject, file, marker: read.marker }
    }
  } catch (error) {
    if (source.errored)
      throw new Problem('invalid_json', 'The connection was closed before the end of the request body')
    throw error
  } finally {
    await endOf(writer)
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
