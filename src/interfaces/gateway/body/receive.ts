import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../../context.js'
import { withArriving } from '../../../core/requests/arriving-files.js'
import { tenantOf } from '../../../http/access/auth.js'
import type { ReserveSpoolPath } from '../../../http/form/received-file.js'
import { type Borrowed, borrow } from '../../../lib/async/borrow.js'
import { isJsonObject } from '../../../lib/text/json.js'
import { FILE_FROM_BYTES } from '../../../lib/text/json-file-reader.js'
import { Problem } from '../../../model/problem.js'
import { receiveMessageForm } from './form.js'
import { receiveJson } from './json.js'
import type { Received } from './received.js'

/** A body that has been read. */
export interface Body extends Received {
  /** For a file that was given as short base64, and so is still in `fields`. */
  reserveSpoolPath: ReserveSpoolPath
}

/**
 * Reads the body of a request, JSON or a form, and calls `work` with it. Its file is removed when `work` ends, and
 * counts as one of the organization's concurrent files from its arrival until then. Throws invalid_json, invalid_media,
 * payload_too_large, unsupported_media_type, too_many_requests, service_unavailable.
 */
export async function withBody<Result>(
  ctx: Context,
  request: FastifyRequest,
  filePaths: ReadonlySet<string>,
  work: (body: Body) => Promise<Result>,
): Promise<Result> {
  const { body, headers, raw } = request
  checkEncoding(headers['content-encoding'])
  const source = body instanceof Readable ? body : Readable.from([])
  try {
    if (Number(headers['content-length']) <= FILE_FROM_BYTES)
      return await withReceived(ctx, request, { source, filePaths }, work)
    return await withArriving(ctx, tenantOf(request).id, source, (arriving) =>
      withReceived(ctx, request, { source: arriving, filePaths }, work),
    )
  } finally {
    // Drain what a refused client still sends, so that it gets to read the response.
    if (!raw.readableEnded) raw.resume()
  }
}

async function withReceived<Result>(
  ctx: Context,
  request: FastifyRequest,
  { source, filePaths }: { source: Readable; filePaths: ReadonlySet<string> },
  work: (body: Body) => Promise<Result>,
): Promise<Result> {
  const { id } = tenantOf(request)
  const { sentFiles } = ctx.limits
  let space: Borrowed<string> | null = null
  const spoolArriving = async () => {
    sentFiles.check(id)
    space ??= await borrow<string>((use) => ctx.spool.use(use))
    return space.value
  }
  const reserveSpoolPath = async () => {
    space ??= await borrow<string>((use) => sentFiles.pass(id, () => ctx.spool.use(use)))
    return space.value
  }
  try {
    const received = await receive(request, source, filePaths, spoolArriving)
    const body = { ...received, reserveSpoolPath }
    return await (space === null ? work(body) : sentFiles.pass(id, () => work(body)))
  } finally {
    await (space as Borrowed<string> | null)?.release()
  }
}

async function receive(
  request: FastifyRequest,
  source: Readable,
  filePaths: ReadonlySet<string>,
  reserveSpoolPath: ReserveSpoolPath,
): Promise<Received> {
  const received = /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')
    ? await receiveMessageForm(request, source, reserveSpoolPath)
    : await receiveJson(request, source, filePaths, reserveSpoolPath)
  if (!isJsonObject(received.fields)) throw new Problem('invalid_json', 'The request body must be a JSON object')
  return received
}

function checkEncoding(encoding = 'identity'): void {
  if (encoding === 'identity') return
  throw new Problem(
    'unsupported_media_type',
    `The Content-Encoding "${encoding}" is not supported: send the body uncompressed`,
  )
}
