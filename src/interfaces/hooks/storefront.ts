import type { FastifyInstance } from 'fastify'
import type { Context } from '../../context.js'
import { receiveOrderWebhook } from '../../core/storefront/receive.js'
import { BODY_LIMIT, readBytes, readHeader } from './raw.js'

/** `/hooks/storefront/{slug}`: webhooks of an organization's storefront (contract 2). */
export function storefrontHooks(server: FastifyInstance, ctx: Context): void {
  server.post<{ Params: { slug: string } }>(
    '/storefront/:slug',
    { schema: { hide: true } as object, bodyLimit: BODY_LIMIT },
    async (request) => {
      await receiveOrderWebhook(ctx, request.params.slug, {
        body: readBytes(request),
        signature: readHeader(request, 'x-shopify-hmac-sha256'),
        topic: readHeader(request, 'x-shopify-topic'),
        id: readHeader(request, 'x-shopify-webhook-id'),
      })
      return { success: true }
    },
  )
}
