import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Context } from '../../../context.js'
import { connectInstance, deleteInstance } from '../../../core/instances/manage/connect.js'
import {
  createInstanceWithWebhook,
  type InstanceWithWebhook,
  recoverInstanceWithWebhook,
} from '../../../core/instances/manage/create-with-webhook.js'
import { listInstances } from '../../../core/instances/manage/list.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import { tenantOf } from '../../../http/access/auth.js'
import { answerOnce } from '../../../http/idempotency.js'
import { readLinkNumber } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { requireRouteInstance } from '../auth.js'
import { instancePath, responses } from '../schemas.js'
import type { GatewayServer } from '../server.js'
import { readNewInstance } from './body.js'
import { presentNewInstance, presentRow } from './present.js'
import { CreateAnswer, CreateBody, DoneAnswer, InstanceRow } from './schemas.js'

/** `/instance`: create, list and delete instances. */
export function instanceRoutes(server: GatewayServer, ctx: Context): void {
  server.post(
    '/instance/create',
    {
      config: { takesGatewayKey: true },
      schema: {
        summary: 'Create an instance',
        description:
          'Fields for proxies, queues and chat tools (proxyHost, rabbitmq, chatwootUrl and the like) are ignored.',
        body: CreateBody,
        response: responses({ 201: CreateAnswer }, 400, 409, 422, 500, 501),
      },
    },
    (request, reply) => create(ctx, request, reply, request.body),
  )

  server.get(
    '/instance/fetchInstances',
    {
      config: { takesTokens: true, takesGatewayKey: true },
      schema: {
        summary: 'List the instances, oldest first; with the token of an instance, only this one',
        querystring: Type.Object({
          instanceName: Type.Optional(Type.String()),
          instanceId: Type.Optional(Type.String()),
          number: Type.Optional(
            Type.String({ description: 'The number as it was given, or the digits of the connected number' }),
          ),
        }),
        response: responses({ 200: Type.Array(InstanceRow) }, 400, 404),
      },
    },
    async (request) => {
      const { instanceName: name, instanceId: id, number } = request.query
      const tenant = tenantOf(request)
      const filter = { name: name || undefined, id: id || undefined, number: number || undefined }
      const listed = await listInstances(ctx, tenant.id, filter, request.caller?.instance?.id)
      return listed.map((one) => presentRow(ctx, tenant, one))
    },
  )

  server.delete(
    '/instance/delete/:instance',
    {
      schema: {
        summary: 'Delete an instance with its session and webhook; its messages stay',
        params: instancePath,
        response: responses({ 200: DoneAnswer }, 404),
      },
    },
    async (request) => {
      await deleteInstance(ctx, tenantOf(request), await requireRouteInstance(ctx, request))
      return { status: 'SUCCESS', error: false, response: { message: 'Instance deleted' } }
    },
  )
}

function create(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Static<typeof CreateBody>,
): Promise<unknown> {
  const tenant = tenantOf(request)
  const fields = readNewInstance(body)
  const answer = async (created: InstanceWithWebhook): Promise<RepeatableAnswer> => {
    const code = body.qrcode ? await showCode(ctx, tenant, created) : undefined
    return { status: 201, body: await presentNewInstance(ctx, created, code), final: true }
  }
  return answerOnce(ctx, request, reply, {
    isSecret: true,
    perform: async (id) => answer(await createInstanceWithWebhook(ctx, tenant, fields, id)),
    recover: async (id) => {
      const created = await recoverInstanceWithWebhook(ctx, tenant, fields, id)
      return created && answer(created)
    },
  })
}

/** Null if there is no code yet: the instance has been created, so the request has succeeded. */
async function showCode(ctx: Context, tenant: Tenant, { instance }: InstanceWithWebhook) {
  try {
    return await connectInstance(ctx, tenant, instance, readLinkNumber(instance.number))
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}
