import { finished } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { Context } from '../../context.js'
import { tenantOf } from '../access/auth.js'
import { startStream } from './stream.js'

/** A client that reads nothing for this long counts as gone; it would also keep the service from ending. */
const STUCK_MS = 60_000

/** Sends a file in parts. It holds a place of the exports until the last part is sent or the client stops reading. */
export function sendFile(
  ctx: Context,
  reply: FastifyReply,
  filename: string,
  parts: AsyncGenerator<string>,
): Promise<FastifyReply> {
  const { request } = reply
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
    // The client sees the error as a broken connection; the log has it.
    await finished(stream).catch(() => undefined)
    request.raw.setTimeout(0)
    return reply
  })
}
