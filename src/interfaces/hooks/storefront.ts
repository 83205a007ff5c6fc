import type { FastifyInstance } from 'fastify'
import type { Context } from '../../context.js'
import { createOrderReceiver } from '../../core/storefront/receive.js'
import type { HookMemory } from './body-memory.js'
import { BODY_LIMIT, readBytes, readHeader, readSignature } from './raw-body.js'

/** 32 bytes in base64. */
const SIGNATURE = { name: 'X-Shopify-Hmac-SHA256', form: /^([A-Za-z0-9+/]{43}=)$/ }

/** `/hooks/storefront/{slug}`: webhooks of an organization's storefront. */
export function storefrontHooks(server: FastifyInstance, ctx: Context, memory: HookMemory): void {
  const receive = createOrderReceiver(ctx)
  server.post<{ Params: { slug: string } }>(
    '/storefront/:slug',
    {
      schema: { hide: true } as object,
      bodyLimit: BODY_LIMIT,
      // Before the body is read, so that unsigned requests cost nothing.
      onRequest: async (request) => void readSignature(request, SIGNATURE),
    },
    async (request) => {
      await receive(request.params.slug, {
        body: readBytes(request),
        signature: readSignature(request, SIGNATURE),
        topic: readHeader(request, 'x-shopify-topic'),
        id: readHeader(request, 'x-shopify-webhook-id'),
      })
      memory.know(request)
      return { success: true }
    },
  )
}
