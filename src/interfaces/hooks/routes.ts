import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import type { CallbackReceiver } from '../../core/callbacks/receive/receiver.js'
import { takeRawBodies } from './raw-body.js'
import { storefrontHooks } from './storefront.js'
import { upstreamHooks } from './upstream.js'

/** `/hooks`: signed requests from the upstream and from storefronts. */
export function hookRoutes(ctx: Context, callbacks: CallbackReceiver): FastifyPluginAsync {
  return async (server) => {
    const memory = takeRawBodies(server)
    upstreamHooks(server, ctx, callbacks, memory) // GET POST /hooks/upstream
    storefrontHooks(server, ctx, memory) //          POST /hooks/storefront/:slug
  }
}
