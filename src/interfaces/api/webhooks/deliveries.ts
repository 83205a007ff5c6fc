import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { listDeliveries, readDelivery } from '../../../core/webhooks/log.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { Nullable, page } from '../../../model/fields.js'
import { DELIVERY_STATUSES, presentDelivery } from '../../../model/webhooks/webhook.js'
import { limit, PAGE_SIZE, paginationOf } from '../pagination.js'
import { Count, onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { EventSchema } from './event-schemas.js'
import { DeliverySchema } from './schemas.js'

const pagination = paginationOf('totalDeliveries', 'deliveriesPerPage')

const Envelope = named(
  'GatewayEvent',
  Type.Object({ event: Type.String(), instance: Type.String() }, { additionalProperties: true }),
)

/** `/webhook-deliveries`: what was delivered and what was not. */
export function webhookDeliveryRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/webhook-deliveries',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'deliveries.list',
        summary: 'List deliveries with their attempts, newest first',
        querystring: Type.Object({
          webhook_id: Type.Optional(Type.String({ format: 'uuid' })),
          status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
          page,
          limit,
          tenantId,
        }),
        response: responses(
          {
            200: successAnswer('DeliveriesAnswer', {
              deliveries: Type.Array(DeliverySchema),
              pagination: pagination.schema,
              count: Count,
            }),
          },
          400,
        ),
      },
    },
    async (request) => {
      const { webhook_id: webhookId = null, status = null, page = 1, limit = PAGE_SIZE } = request.query
      const wanted = { webhookId, status, page, limit }
      const { deliveries, total } = await listDeliveries(ctx, tenantOf(request).id, wanted)
      return {
        success: true,
        deliveries: deliveries.map(presentDelivery),
        pagination: pagination.show(page, limit, total),
        count: deliveries.length,
      }
    },
  )

  server.get(
    '/webhook-deliveries/:id',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'deliveries.get',
        summary: 'Read one delivery with the body that is posted',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses(
          {
            200: successAnswer('DeliveryWithBodyAnswer', {
              delivery: DeliverySchema,
              body: Nullable(
                Type.Union([EventSchema, Envelope], {
                  description:
                    "The event; for a webhook of an instance, in the gateway's envelope. Null if it is no longer kept, or if its contact was erased.",
                }),
              ),
            }),
          },
          400,
          404,
        ),
      },
    },
    async (request) => {
      const { delivery, body } = await readDelivery(ctx, tenantOf(request).id, request.params.id)
      return { success: true, delivery: presentDelivery(delivery), body }
    },
  )
}
