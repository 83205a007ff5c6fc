import { finished } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.js'
import { tenantOf } from './auth.js'
import { startStream } from './stream.js'

/** A client that takes nothing for so long is taken for gone; it would also keep the service from ending. */
const STUCK_MS = 60_000

/** Sends a file part by part. The place of an export is taken until the last is sent, or nobody takes more of it. */
export function sendFile(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  filename: string,
  parts: AsyncGenerator<string>,
): Promise<FastifyReply> {
  return ctx.limits.exportedFiles.pass(tenantOf(request).id, async () => {
    const stream = await startStream(parts)
    reply.headers({
      'content-type': filename.endsWith('.json') ? 'application/json; charset=utf-8' : 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${filename}"`,
    })
    if (request.method === 'HEAD') {
      stream.destroy()
      return reply.send()
    }
    request.raw.setTimeout(STUCK_MS, () => request.raw.destroy())
    reply.send(stream)
    // What broke is told to the client by the connection, and in the log.
    await finished(stream).catch(() => undefined)
    request.raw.setTimeout(0)
    return reply
  })
}
