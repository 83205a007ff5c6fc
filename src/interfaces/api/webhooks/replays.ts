import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { recoverReplays, replayDelivery, replayRange } from '../../../core/webhooks/log.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { readMoment } from '../../../http/moment.js'
import { Count, onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { answerDelivery } from './delivery-answer.js'
import { DeliveryAnswer } from './schemas.js'

const ReplayBody = named(
  'ReplayRange',
  Type.Object({
    webhook_id: Type.String({ format: 'uuid' }),
    from: Type.String({ format: 'date-time', description: 'When the first event happened, with a time zone' }),
    to: Type.String({ format: 'date-time', description: 'When the last one happened' }),
  }),
)

/** `/webhook-deliveries/{id}/replay`, `/webhook-deliveries/replay`: deliver events again. */
export function webhookReplayRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/webhook-deliveries/:id/replay',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'deliveries.replay',
        summary: 'Deliver an event again, to the webhook of the delivery',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: DeliveryAnswer }, 400, 404, 409, 422),
      },
    },
    (request, reply) =>
      answerDelivery(ctx, reply, 'The event is delivered once more', (id) =>
        replayDelivery(ctx, tenantOf(request).id, request.params.id, id),
      ),
  )

  server.post(
    '/webhook-deliveries/replay',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'deliveries.replayRange',
        summary: 'Deliver all events of a time range again to one webhook',
        querystring: Type.Object({ tenantId }),
        body: ReplayBody,
        response: responses(
          {
            200: successAnswer('ReplayAnswer', { message: Type.String(), count: Count }),
          },
          400,
          404,
          409,
          422,
        ),
      },
    },
    (request, reply) => {
      const { id: organizationId } = tenantOf(request)
      const { webhook_id: webhookId, from, to } = request.body
      const answer = (count: number) => ({
        status: 200,
        body: { success: true, message: `${count} events are delivered to the webhook`, count },
        final: true,
      })
      return answerOnce(ctx, request, reply, {
        perform: async (id) => {
          const range = { from: readMoment('from', from), to: readMoment('to', to) }
          return answer(await replayRange(ctx, organizationId, webhookId, { id, ...range }))
        },
        recover: async (id) => {
          const count = await recoverReplays(ctx, organizationId, id)
          return count === null ? null : answer(count)
        },
      })
    },
  )
}
