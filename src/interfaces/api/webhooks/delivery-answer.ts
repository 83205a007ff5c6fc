import type { FastifyReply } from 'fastify'
import type { Context } from '../../../context.js'
import { recoverDelivery } from '../../../core/webhooks/log.js'
import { tenantOf } from '../../../http/access/auth.js'
import { answerOnce } from '../../../http/idempotency.js'
import { type Delivery, presentDelivery } from '../../../model/webhooks/webhook.js'

/** Answers, once per Idempotency-Key, with the delivery that `deliver` leaves under the id that it is given. */
export function answerDelivery(
  ctx: Context,
  reply: FastifyReply,
  message: string,
  deliver: (id: string) => Promise<Delivery>,
): Promise<unknown> {
  const answer = (delivery: Delivery) => ({
    status: 200,
    body: { success: true, message, delivery: presentDelivery(delivery) },
    final: true,
  })
  const { request } = reply
  return answerOnce(ctx, request, reply, {
    perform: async (id) => answer(await deliver(id)),
    recover: async (id) => {
      const delivery = await recoverDelivery(ctx, tenantOf(request).id, id)
      return delivery && answer(delivery)
    },
  })
}
