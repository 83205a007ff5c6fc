import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../../context.js'
import { tenantOf } from '../../../http/access/auth.js'
import { type Borrowed, borrow } from '../../../lib/async/borrow.js'
import { isJsonObject } from '../../../lib/text/json.js'
import { Problem } from '../../../model/problem.js'
import { receiveForm } from './form.js'
import { receiveJson } from './json.js'
import type { Received, ReserveSpoolPath } from './received.js'

/** A body that has been read. */
export interface Body extends Received {
  /** For a file that was given as short base64, and so is still in `fields`. */
  reserveSpoolPath: ReserveSpoolPath
}

/**
 * Reads the body of a request, JSON or a form, and calls `work` with it. Its file is removed when `work` ends, and
 * counts as one of the organization's concurrent files until then. Throws invalid_json, invalid_media,
 * payload_too_large, unsupported_media_type, too_many_requests.
 */
export async function withBody<Result>(
  ctx: Context,
  request: FastifyRequest,
  filePaths: ReadonlySet<string>,
  work: (body: Body) => Promise<Result>,
): Promise<Result> {
  let space: Borrowed<string> | null = null
  const reserveSpoolPath = async () => {
    space ??= await borrow<string>((use) => ctx.limits.sentFiles.pass(tenantOf(request).id, () => ctx.spool.use(use)))
    return space.value
  }
  try {
    return await work({ ...(await receive(request, filePaths, reserveSpoolPath)), reserveSpoolPath })
  } finally {
    await (space as Borrowed<string> | null)?.release()
  }
}

async function receive(
  request: FastifyRequest,
  filePaths: ReadonlySet<string>,
  reserveSpoolPath: ReserveSpoolPath,
): Promise<Received> {
  const { body, headers, raw } = request
  checkEncoding(headers['content-encoding'])
  const source = body instanceof Readable ? body : Readable.from([])
  const type = headers['content-type'] ?? ''
  try {
    const received = /^multipart\/form-data\b/i.test(type)
      ? await receiveForm(request, source, reserveSpoolPath)
      : await receiveJson(request, source, filePaths, reserveSpoolPath)
    if (!isJsonObject(received.fields)) throw new Problem('invalid_json', 'The request body must be a JSON object')
    return received
  } finally {
    // Drain what a refused client still sends, so that it gets to read the response.
    if (!raw.readableEnded) raw.resume()
  }
}

function checkEncoding(encoding = 'identity'): void {
  if (encoding === 'identity') return
  throw new Problem(
    'unsupported_media_type',
    `The Content-Encoding "${encoding}" is not supported: send the body uncompressed`,
  )
}
