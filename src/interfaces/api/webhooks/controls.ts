import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { enableWebhook, rotateWebhookSecret } from '../../../core/webhooks/endpoints.js'
import { testWebhook } from '../../../core/webhooks/log.js'
import { tenantOf } from '../../../http/access/auth.js'
import { successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { presentWebhook } from '../../../model/webhooks/webhook.js'
import { onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { answerDelivery } from './delivery-answer.js'
import { DeliveryAnswer, IssuedAnswer, WebhookSchema } from './schemas.js'
import { presentIssued } from './webhooks.js'

/** `/set-webhooks/{id}/…`: rotate the secret, enable again, send a test event. */
export function webhookControlRoutes(server: ApiServer, ctx: Context): void {
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
          return presentIssued(
            issued,
            200,
            'The webhook has a new secret: keep it; the old one signs as well for 24 hours',
          )
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
      answerDelivery(ctx, reply, 'The test is on its way', (id) =>
        testWebhook(ctx, tenantOf(request).id, request.params.id, id),
      ),
  )
}
