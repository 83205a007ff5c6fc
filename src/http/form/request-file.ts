import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { withArriving } from '../../core/requests/arriving-files.js'
import { receiveFile } from '../../lib/files/receive-file.js'
import { MEBIBYTE, sizeText } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'
import { tenantOf } from '../access/auth.js'
import { swallowRest } from '../answers/problems.js'
import { requireIdentity } from '../uploads.js'
import { receiveForm } from './receive-form.js'
import type { ReceivedFile } from './received-file.js'

/** How many bytes a form may have beside its file. */
export const FORM_OVERHEAD = MEBIBYTE

/**
 * Receives the file of a request into the spool and passes it to `work`: the part `file` of a form, or else the body
 * itself. It is removed when the work ends. From its arrival until then it counts as one of the organization's files in
 * progress. Throws invalid_media, missing_field, unsupported_media_type, too_many_requests, service_unavailable, and
 * what receiveForm throws.
 */
export async function withRequestFile<Result>(
  ctx: Context,
  request: FastifyRequest,
  maxBytes: number,
  work: (file: ReceivedFile) => Promise<Result>,
): Promise<Result> {
  const { body, headers, raw } = request
  const { id } = tenantOf(request)
  const { sentFiles } = ctx.limits
  try {
    requireIdentity(headers)
    if (Number(headers['content-length']) > maxBytes + FORM_OVERHEAD) throw tooBig(maxBytes)
    sentFiles.check(id)
    // No body at all is an empty file.
    const source = body instanceof Readable ? body : Readable.from([])
    return await withArriving(ctx, id, source, (arriving) =>
      ctx.spool.use(async (path) => {
        const file = await receive(request, arriving, path, maxBytes)
        return sentFiles.pass(id, () => work(file))
      }),
    )
  } finally {
    if (!raw.readableEnded) swallowRest(request)
  }
}

async function receive(
  request: FastifyRequest,
  arriving: Readable,
  path: string,
  maxBytes: number,
): Promise<ReceivedFile> {
  if (/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) {
    const { file } = await receiveForm(request, arriving, async () => path)
    if (file !== null) return file
    throw new Problem('missing_field', 'file is required: the part of the form that has the file')
  }
  const received = await receiveFile(arriving, path, maxBytes)
  switch (received.outcome) {
    case 'received':
      return { path, sha256: received.sha256.toString('hex'), filename: null }
    case 'too_big':
      throw tooBig(maxBytes)
    case 'broken_off':
      throw new Problem('invalid_media', 'The upload ended before the file was complete: send it again', {
        reason: 'broken_off',
      })
  }
}

function tooBig(maxBytes: number): Problem {
  const message = `The file cannot be used: it is too big; messages take files of at most ${sizeText(maxBytes)}`
  return new Problem('invalid_media', message, { reason: 'too_big' })
}
