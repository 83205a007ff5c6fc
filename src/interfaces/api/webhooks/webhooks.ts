import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import type { RepeatableAnswer } from '../../../core/runtime/idempotency.js'
import {
  deleteWebhook,
  enableWebhook,
  type IssuedWebhook,
  listWebhooks,
  recoverWebhook,
  rotateWebhookSecret,
  setWebhook,
} from '../../../core/webhooks/endpoints.js'
import { testWebhook } from '../../../core/webhooks/log.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { presentWebhook, SetWebhook } from '../../../model/webhooks/webhook.js'
import { DoneAnswer, onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { answerDelivery } from './delivery-answer.js'
import { DeliveryAnswer, IssuedAnswer, WebhookSchema } from './schemas.js'

/** `/set-webhooks`, `/get-webhooks`: the endpoints that events are delivered to. */
export function webhookRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/set-webhooks',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'webhooks.set',
        summary: 'Register an endpoint for events',
        querystring: Type.Object({ tenantId }),
        body: named('SetWebhook', SetWebhook),
        response: responses({ 201: IssuedAnswer }, 400, 409, 422),
      },
    },
    (request, reply) => {
      const { id: organizationId } = tenantOf(request)
      const answer = (issued: IssuedWebhook) => present(issued, 201, 'The webhook is set: keep its secret')
      return answerOnce(ctx, request, reply, {
        isSecret: true,
        perform: async (id) => answer(await setWebhook(ctx, organizationId, request.body, id)),
        recover: async (id) => {
          const issued = await recoverWebhook(ctx, organizationId, id)
          return issued && answer(issued)
        },
      })
    },
  )

  server.get(
    '/get-webhooks',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'webhooks.list',
        summary: 'List the webhooks, oldest first',
        querystring: Type.Object({ tenantId }),
        response: responses(
          {
            200: successAnswer('WebhooksAnswer', { webhooks: Type.Array(WebhookSchema) }),
          },
          400,
        ),
      },
    },
    async (request) => {
      const webhooks = await listWebhooks(ctx, tenantOf(request).id)
      return { success: true, webhooks: webhooks.map(presentWebhook) }
    },
  )

  server.delete(
    '/set-webhooks',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'webhooks.delete',
        summary: 'Remove a webhook and its deliveries',
        querystring: Type.Object({ tenantId }),
        body: named('DeleteWebhook', onePath),
        response: responses({ 200: DoneAnswer }, 400, 404),
      },
    },
    async (request) => {
      const { id } = request.body
      await deleteWebhook(ctx, tenantOf(request).id, id)
      return { success: true, message: `The webhook ${id} has been removed` }
    },
  )

  server.post(
    '/set-webhooks/:id/rotate-secret',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'webhooks.rotateSecret',
        summary: 'Give a webhook a new secret; the old one keeps signing for 24 hours',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: IssuedAnswer }, 400, 404, 409, 422),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        isSecret: true,
        perform: async () => {
          const issued = await rotateWebhookSecret(ctx, tenantOf(request).id, request.params.id)
          return present(issued, 200, 'The webhook has a new secret: keep it; the old one signs as well for 24 hours')
        },
        recover: async () => null,
      }),
  )

  server.post(
    '/set-webhooks/:id/enable',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'webhooks.enable',
        summary: 'Enable a webhook that was disabled automatically',
        description: 'Events that happened in the meantime are not delivered: replay them.',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses(
          {
            200: successAnswer('WebhookAnswer', { message: Type.String(), webhook: WebhookSchema }),
          },
          400,
          404,
          409,
          422,
        ),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        perform: async () => {
          const webhook = await enableWebhook(ctx, tenantOf(request).id, request.params.id)
          const body = { success: true, message: 'The webhook is active', webhook: presentWebhook(webhook) }
          return { status: 200, body, final: true }
        },
        recover: async () => null,
      }),
  )

  server.post(
    '/set-webhooks/:id/test',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'webhooks.test',
        summary: 'Deliver a test event to a webhook',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: DeliveryAnswer }, 400, 404, 409, 422),
      },
    },
    (request, reply) =>
      answerDelivery(ctx, request, reply, 'The test is on its way', (id) =>
        testWebhook(ctx, tenantOf(request).id, request.params.id, id),
      ),
  )
}

function present({ webhook, secret }: IssuedWebhook, status: number, message: string): RepeatableAnswer {
  return { status, body: { success: true, message, webhook: { ...presentWebhook(webhook), secret } }, final: true }
}
