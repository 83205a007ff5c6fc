import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import {
  cancelBroadcast,
  pauseBroadcast,
  type Retried,
  recoverRetry,
  resumeBroadcast,
  retryFailed,
} from '../../../core/broadcasts/control.js'
import { getBroadcast } from '../../../core/broadcasts/read.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import { tenantOf } from '../../../http/access/auth.js'
import { successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { type Broadcast, presentBroadcast } from '../../../model/broadcasts/broadcast.js'
import { onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { BroadcastAnswer, BroadcastSchema } from './schemas.js'

/** `POST /broadcasts/{id}/{pause|resume|cancel|retry-failed}`. */
export function broadcastControlRoutes(server: ApiServer, ctx: Context): void {
  const controls = [
    ['pause', 'Pause a broadcast', pauseBroadcast, ['paused']],
    ['resume', 'Resume a paused broadcast', resumeBroadcast, ['scheduled', 'running', 'completed']],
    ['cancel', 'Cancel a broadcast for good; the remaining recipients are skipped', cancelBroadcast, ['cancelled']],
  ] as const
  for (const [verb, summary, control, reached] of controls) {
    server.post(
      `/broadcasts/:id/${verb}`,
      {
        config: { scope: 'broadcasts:write' },
        schema: {
          operationId: `broadcasts.${verb}`,
          summary,
          params: onePath,
          querystring: Type.Object({ tenantId }),
          response: responses({ 200: BroadcastAnswer }, 400, 404, 409, 422),
        },
      },
      (request, reply) => {
        const tenant = tenantOf(request)
        const { id } = request.params
        return answerOnce(ctx, request, reply, {
          perform: async () => toAnswer(await control(ctx, tenant, id)),
          recover: async () => {
            const broadcast = await getBroadcast(ctx, tenant, id)
            return reached.some((status) => status === broadcast.status) ? toAnswer(broadcast) : null
          },
        })
      },
    )
  }

  server.post(
    '/broadcasts/:id/retry-failed',
    {
      config: { scope: 'broadcasts:write' },
      schema: {
        operationId: 'broadcasts.retryFailed',
        summary: 'Send again to the recipients that failed',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses(
          {
            200: successAnswer('RetryAnswer', {
              broadcast: BroadcastSchema,
              retried: Type.Integer({ description: 'How many recipients it is sent to again' }),
            }),
          },
          400,
          404,
          409,
          422,
        ),
      },
    },
    (request, reply) => {
      const tenant = tenantOf(request)
      const { id } = request.params
      return answerOnce(ctx, request, reply, {
        perform: async (retryId) => toRetryAttempt(await retryFailed(ctx, tenant, id, retryId)),
        recover: async (retryId) => {
          const recovered = await recoverRetry(ctx, tenant, id, retryId)
          return recovered && toRetryAttempt(recovered)
        },
      })
    },
  )
}

function toAnswer(broadcast: Broadcast): RepeatableAnswer {
  return { status: 200, body: { success: true, broadcast: presentBroadcast(broadcast) }, final: true }
}

function toRetryAttempt({ broadcast, retried }: Retried): RepeatableAnswer {
  return { status: 200, body: { success: true, broadcast: presentBroadcast(broadcast), retried }, final: true }
}
