import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import { setInstancePresence } from '../../../core/instances/chats/presence.js'
import { connectInstance, logoutInstance, restartInstance } from '../../../core/instances/manage/connect.js'
import { tenantOf } from '../../../http/access/auth.js'
import { readLinkNumber } from '../../../model/instances/instance.js'
import { findRouteInstance, requireRouteInstance } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { presentCode, presentRestart, presentState } from './present.js'
import { CodeAnswer, DoneAnswer, PresenceBody, RestartAnswer, StateAnswer } from './schemas.js'

const CONNECTION_STATE = '/instance/connectionState/:instance'

const ConnectQuery = Type.Object({
  number: Type.Optional(
    Type.String({ maxLength: 100, description: "The phone's number, to get a code to type as well" }),
  ),
})

/** `/instance`: connection and presence of an instance. */
export function connectionRoutes(server: GatewayServer, ctx: Context): void {
  for (const url of [CONNECTION_STATE, '/instance/:instance/connectionState']) {
    server.get(
      url,
      {
        schema: {
          hide: url !== CONNECTION_STATE,
          summary: 'Read the state of the connection',
          description: 'Also at /instance/{instance}/connectionState.',
          params: instancePath,
          response: responses({ 200: StateAnswer }, 404),
        },
      },
      async (request) => presentState(await requireRouteInstance(ctx, request)),
    )
  }

  server.get(
    '/instance/connect/:instance',
    {
      schema: {
        summary: 'Get a code that links a phone; for an open instance its state',
        params: instancePath,
        querystring: ConnectQuery,
        response: responses({ 200: Type.Union([CodeAnswer, StateAnswer]) }, 400, 404, 500, 501),
      },
    },
    async (request) => {
      const instance = await requireRouteInstance(ctx, request)
      const number = readLinkNumber(request.query.number)
      const code = await connectInstance(ctx, tenantOf(request), instance, number)
      return code ? presentCode(code) : presentState(await findRouteInstance(ctx, request))
    },
  )

  server.route({
    method: ['POST', 'PUT'],
    url: '/instance/restart/:instance',
    schema: {
      summary: 'Restart the connection of an instance',
      params: instancePath,
      response: responses({ 200: Type.Union([CodeAnswer, RestartAnswer]) }, 404, 500, 501),
    },
    handler: async (request) => {
      const code = await restartInstance(ctx, tenantOf(request), await requireRouteInstance(ctx, request))
      return code ? presentCode(code) : presentRestart(await findRouteInstance(ctx, request))
    },
  })

  server.route<{ Body: Static<typeof PresenceBody> }>({
    method: ['POST', 'PUT'],
    url: '/instance/setPresence/:instance',
    schema: {
      summary: 'Set whether the number appears online',
      params: instancePath,
      body: PresenceBody,
      response: responses({ 201: Type.Object({ presence: Type.String() }) }, 400, 404, 500, 501),
    },
    handler: async (request, reply) => {
      const { presence } = request.body
      await setInstancePresence(ctx, tenantOf(request), await requireRouteInstance(ctx, request), presence)
      reply.code(201)
      return { presence }
    },
  })

  server.delete(
    '/instance/logout/:instance',
    {
      schema: {
        summary: 'End the session of an instance; a code must be scanned again',
        params: instancePath,
        response: responses({ 200: DoneAnswer }, 400, 404, 501),
      },
    },
    async (request) => {
      await logoutInstance(ctx, tenantOf(request), await requireRouteInstance(ctx, request))
      return { status: 'SUCCESS', error: false, response: { message: 'Instance logged out' } }
    },
  )
}
