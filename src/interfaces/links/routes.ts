import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import { createLinkFollower } from '../../core/storefront/short-links.js'
import { clientNetwork } from '../../http/access/client-address.js'
import { NO_STORE } from '../../http/answers/caching.js'
import { Problem } from '../../model/problem.js'

/** `/s/{code}`: short links. Nothing of the request is copied into the target URL. */
export function linkRoutes(ctx: Context): FastifyPluginAsync {
  const follow = createLinkFollower(ctx)
  return async (server) => {
    server.route<{ Params: { code: string } }>({
      method: ['GET', 'HEAD'],
      url: '/:code',
      exposeHeadRoute: false,
      schema: { hide: true } as object,
      handler: async (request, reply) => {
        // A cached response would hide later clicks.
        reply.headers(NO_STORE)
        const target = await follow({
          code: request.params.code,
          userAgent: request.headers['user-agent'] ?? '',
          network: clientNetwork(request),
          isLookup: request.method === 'HEAD',
        })
        if (target === null) throw new Problem('not_found', 'There is no such short link')
        // Headers are ASCII; `href` encodes other characters of the URL.
        return reply.redirect(new URL(target.url).href, target.isMoved ? 308 : 302)
      },
    })
  }
}
