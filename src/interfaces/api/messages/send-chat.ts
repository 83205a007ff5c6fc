import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { requireNumber } from '../../../core/contacts/numbers.js'
import { openChosenChannel } from '../../../core/instances/send/chosen-channel.js'
import { findSendResult } from '../../../core/messages/send/outcome.js'
import { sendConverted } from '../../../core/messages/send/send-converted.js'
import { senderOf, tenantOf } from '../../../http/access/auth.js'
import { toAnswer } from '../../../http/answers/sent.js'
import { causeOf } from '../../../http/cause.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { conversionOf, readContent, readReplyTarget, readTarget, SendChatBody } from './send-chat-body.js'

const Answer = successAnswer('SentAnswer', {
  message: Type.String(),
  data: Type.Object({
    message_id: Type.String({ description: "The upstream's id" }),
    recipient: Type.String({ description: 'Digits only' }),
    message_type: Type.String(),
    organization: Type.String({ description: "The organization's name" }),
    meta_response: Type.Object({}, { additionalProperties: true, description: "The upstream's answer as it came" }),
  }),
})

/** `POST /send-chat`. */
export function sendChatRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/send-chat',
    {
      config: { scope: 'messages:send' },
      schema: {
        operationId: 'messages.send',
        summary: 'Send a message to an existing contact',
        querystring: Type.Object({ tenantId }),
        body: named('SendChat', SendChatBody),
        response: responses({ 200: Answer }, 400, 404, 409, 422, 500, 501),
      },
    },
    (request, reply) => {
      const tenant = tenantOf(request)
      const { instance } = request.body
      const given = readTarget(request.body)
      const memberId = senderOf(request, request.body.memberId)
      const content = readContent(request.body)
      const conversion = conversionOf(request.body)
      const replyTo = readReplyTarget(request.body)
      const cause = causeOf(request, ctx.clock())
      return answerOnce(ctx, request, reply, {
        perform: async (id) => {
          const sender = { memberId, isPromotional: false, recipient: null, cause }
          const to = await requireNumber(ctx, tenant, given, { field: 'api', place: 'body' })
          const channel = await openChosenChannel(ctx, tenant, instance ?? null, content)
          const message = { id, to, content, conversion, replyTo, ...sender }
          const sent = await sendConverted(ctx, tenant, channel, message)
          return toAnswer(tenant, content.type, sent)
        },
        recover: async (id) => {
          const result = await findSendResult(ctx, tenant, id)
          return result && toAnswer(tenant, content.type, result)
        },
      })
    },
  )
}
