import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import type { AdminGuard } from '../../http/access/auth.js'
import { refuseUnknown } from '../../http/unknown-fields.js'
import { connectionRoutes } from './connections.js'
import { keyRoutes } from './keys.js'
import { memberRoutes } from './members.js'
import { organizationRoutes } from './organizations.js'

/** `/admin`: the operator's API. */
export function adminRoutes(ctx: Context, guard: AdminGuard): FastifyPluginAsync {
  return async (plain) => {
    const server = plain.withTypeProvider<TypeBoxTypeProvider>()
    server.addHook('onRequest', guard)
    refuseUnknown(plain)
    server.get('/openapi.json', { schema: { hide: true } as object }, () => server.adminSwagger())
    organizationRoutes(server, ctx) // /organizations: POST GET PATCH DELETE, /organizations/{id}: POST /retention-preview, PUT DELETE /hold
    connectionRoutes(server, ctx) //   /organizations/{id}: PUT /upstream, POST /upstream/connect, GET /upstream/health, GET PUT /storefront
    keyRoutes(server, ctx) //          /organizations/{id}/keys: POST GET, /keys/{id}: POST /rotate, DELETE
    memberRoutes(server, ctx) //       /organizations/{id}/members: POST GET, /members/{id}: POST /sign-in-link, DELETE
  }
}
