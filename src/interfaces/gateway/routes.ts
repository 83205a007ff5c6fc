import swagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { Context } from '../../context.js'
import { dropNotGiven } from '../../http/given.js'
import { refuseOtherMethods } from '../../http/server.js'
import { Problem } from '../../model/problem.js'
import { createGatewayGuard, type GatewayGate } from './auth.js'
import { chatRoutes } from './chat/routes.js'
import { readEmptyBody } from './empty-body.js'
import { sendGatewayProblem } from './errors.js'
import { connectionRoutes } from './instances/connections.js'
import { instanceRoutes } from './instances/instances.js'
import { settingsRoutes } from './instances/settings.js'
import { messageRoutes } from './messages/routes.js'
import { describeAtRoot, gatewayDescription } from './openapi.js'
import { isGatewayUrl } from './path.js'
import { unsupportedRoutes } from './unsupported.js'
import { webhookRoutes } from './webhook.js'
import { welcomeRoutes } from './welcome.js'

/** Interface B. The welcome and the description need no key; every other route is guarded. */
export function gatewayRoutes(ctx: Context, gate: GatewayGate): FastifyPluginAsync {
  return async (plain) => {
    const server = plain.withTypeProvider<TypeBoxTypeProvider>()
    server.setErrorHandler(sendGatewayProblem)
    server.setNotFoundHandler((request, reply) => sendGatewayProblem(new Problem('not_found', ''), request, reply))
    server.decorateRequest('instance', null)
    const otherMethods = refuseOtherMethods(server)
    await server.register(swagger, gatewayDescription)
    welcomeRoutes(server, ctx)
    server.get('/openapi.json', { schema: { hide: true } as object }, (request) =>
      isGatewayUrl(request.originalUrl) ? server.gatewaySwagger() : describeAtRoot(server.gatewaySwagger()),
    )
    server.register(guardedRoutes(ctx, gate))
    server.register(otherMethods)
  }
}

function guardedRoutes(ctx: Context, gate: GatewayGate): FastifyPluginAsync {
  return async (plain) => {
    const server = plain.withTypeProvider<TypeBoxTypeProvider>()
    server.addHook('onRequest', createGatewayGuard(ctx, gate))
    server.addHook('preValidation', readEmptyBody)
    dropNotGiven(server)
    instanceRoutes(server, ctx) //    /instance/{create|fetchInstances|delete/{i}}
    settingsRoutes(server, ctx) //    /settings/{find|set}/{i}
    connectionRoutes(server, ctx) //  /instance/{connectionState|connect|restart|setPresence|logout}/{i}
    messageRoutes(server, ctx) //     POST /message/{sendText|sendMedia|…}/{i}
    chatRoutes(server, ctx) //        /chat/{findChats|findMessages|whatsappNumbers|…}/{i}
    webhookRoutes(server, ctx) //     POST /webhook/set/{i}, GET /webhook/find/{i}
    unsupportedRoutes(server) //      everything else that such gateways have: 501
  }
}
