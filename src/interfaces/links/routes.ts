import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import { createLinkFollower } from '../../core/storefront/short-links.js'
import { clientNetwork } from '../../http/client-address.js'
import { Problem } from '../../model/problem.js'

/** `/s/{code}`: short links (contract 2, contract 4, Analytics). Nothing of the request goes into where they lead. */
export function linkRoutes(ctx: Context): FastifyPluginAsync {
  const follow = createLinkFollower(ctx)
  return async (server) => {
    server.route<{ Params: { code: string } }>({
      method: ['GET', 'HEAD'],
      url: '/:code',
      exposeHeadRoute: false,
      schema: { hide: true } as object,
      handler: async (request, reply) => {
        // An answer that is kept would not be counted again.
        reply.header('cache-control', 'private, no-store')
        const address = await follow({
          code: request.params.code,
          userAgent: request.headers['user-agent'] ?? '',
          network: clientNetwork(request),
          isLookup: request.method === 'HEAD',
        })
        if (address === null) throw new Problem('not_found', 'There is no such short link')
        // A header is written in ASCII; the address may have been given in other letters.
        return reply.redirect(new URL(address).href, 302)
      },
    })
  }
}
