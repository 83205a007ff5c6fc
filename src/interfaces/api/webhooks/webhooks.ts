import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import {
  deleteWebhook,
  type IssuedWebhook,
  listWebhooks,
  recoverWebhook,
  setWebhook,
} from '../../../core/webhooks/endpoints.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { presentWebhook, SetWebhook } from '../../../model/webhooks/webhook.js'
import { DoneAnswer, onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { IssuedAnswer, WebhookSchema } from './schemas.js'

/** `/set-webhooks`, `/get-webhooks`: register, list and remove endpoints that events are delivered to. */
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
      const answer = (issued: IssuedWebhook) => presentIssued(issued, 201, 'The webhook is set: keep its secret')
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
}

/** The answer with a secret, which is shown only once. */
export function presentIssued({ webhook, secret }: IssuedWebhook, status: number, message: string): RepeatableAnswer {
  return { status, body: { success: true, message, webhook: { ...presentWebhook(webhook), secret } }, final: true }
}
