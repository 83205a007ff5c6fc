import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { blockContact } from '../../../core/instances/chats/block-contact.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named } from '../../../http/description/name-schemas.js'
import { requireRouteInstance } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { RequiredJid } from './schemas.js'

const BlockBody = named(
  'UpdateBlockStatus',
  Type.Object({ number: RequiredJid, status: Type.Enum(['block', 'unblock'], { 'x-missing': true }) }),
)

/** `POST PUT /chat/updateBlockStatus`. */
export function blockingRoutes(server: GatewayServer, ctx: Context): void {
  server.route({
    method: ['POST', 'PUT'],
    url: '/chat/updateBlockStatus/:instance',
    schema: {
      summary: 'Block a person, or unblock one',
      description: 'On WhatsApp, which blocks only who wrote in the last 24 hours, and in Parley.',
      params: instancePath,
      body: BlockBody,
      response: responses({ 201: Type.Object({ block: Type.Literal('success') }) }, 400, 404, 500, 501),
    },
    handler: async (request, reply) => {
      const instance = await requireRouteInstance(ctx, request)
      const { number, status } = request.body
      await blockContact(ctx, tenantOf(request), instance, { number, isBlocked: status === 'block' })
      return reply.code(201).send({ block: 'success' })
    },
  })
}
