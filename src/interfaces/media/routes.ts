import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { followMediaLink, openMedia } from '../../core/media/read.js'
import { NO_STORE } from '../../http/answers/caching.js'
import type { StoredMedia } from '../../model/messages/media.js'
import { isUnmodified, requestedRange } from './conditions.js'
import { cacheHeaders, contentHeaders, SAFETY_HEADERS } from './headers.js'

interface MediaParams {
  organizationId: string
  mediaId: string
}

/** `/media`: stored files, for clients with a link signed by this service. */
export function mediaRoutes(ctx: Context): FastifyPluginAsync {
  return async (server) => {
    server.route({
      method: ['GET', 'HEAD'],
      url: '/:organizationId/:mediaId',
      exposeHeadRoute: false,
      schema: { hide: true } as object,
      handler: async (request, reply) => {
        reply.headers(SAFETY_HEADERS)
        const media = await followMediaLink(ctx, linkOf(request))
        if ('movedTo' in media) {
          // A browser would keep the redirect, also when the organization has come back.
          return reply.headers(NO_STORE).redirect(media.movedTo + request.originalUrl, 308)
        }
        if (isUnmodified(request.headers, media)) return reply.code(304).headers(cacheHeaders(media)).send()
        return request.method === 'HEAD' ? sendHead(ctx, media, reply) : sendBytes(ctx, media, request, reply)
      },
    })
  }
}

function linkOf(request: FastifyRequest) {
  const { expires, signature } = request.query as Record<string, unknown>
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return { ...(request.params as MediaParams), expires: text(expires), signature: text(signature) }
}

/** Opens one byte only, to find out whether the bytes exist. */
async function sendHead(ctx: Context, media: StoredMedia, reply: FastifyReply) {
  const bytes = await openMedia(ctx, media, media.size > 0 ? { start: 0, end: 0 } : undefined)
  bytes.destroy()
  reply.headers({ ...cacheHeaders(media), ...contentHeaders(media), 'content-length': media.size })
  return reply.send()
}

async function sendBytes(ctx: Context, media: StoredMedia, request: FastifyRequest, reply: FastifyReply) {
  const range = requestedRange(request.headers, media)
  if (range === 'unsatisfiable') {
    return reply.code(416).header('content-range', `bytes */${media.size}`).send()
  }
  const bytes = await openMedia(ctx, media, range)
  reply.headers({ ...cacheHeaders(media), ...contentHeaders(media) })
  if (range === undefined) return reply.header('content-length', media.size).send(bytes)
  const { start, end } = range
  reply.code(206).headers({ 'content-range': `bytes ${start}-${end}/${media.size}`, 'content-length': end - start + 1 })
  return reply.send(bytes)
}
