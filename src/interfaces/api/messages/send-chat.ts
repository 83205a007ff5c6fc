import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { ensureRecipient } from '../../../core/contacts/ensure.js'
import { requireNumber } from '../../../core/contacts/numbers.js'
import { chooseLaterChannel, openChosenChannel } from '../../../core/instances/send/chosen-channel.js'
import { findSendResult } from '../../../core/messages/send/outcome.js'
import { checkMember } from '../../../core/messages/send/send.js'
import { sendConverted } from '../../../core/messages/send/send-converted.js'
import { findScheduledMessage, requireRoom, scheduleMessage } from '../../../core/scheduled/schedule.js'
import { senderOf, tenantOf } from '../../../http/access/auth.js'
import { toScheduledAnswer } from '../../../http/answers/scheduled.js'
import { toAnswer } from '../../../http/answers/sent.js'
import { causeOf } from '../../../http/cause.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { readSendTime } from '../../../http/moment.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { ScheduledAnswer } from './scheduled-fields.js'
import {
  conversionOf,
  readContent,
  readNewContact,
  readReplyTarget,
  readTarget,
  SendChatBody,
} from './send-chat-body.js'

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
        summary: 'Send a message to a contact',
        description: 'A number that is no contact yet is 404, unless `create` is true.',
        querystring: Type.Object({ tenantId }),
        body: named('SendChat', SendChatBody),
        response: responses({ 200: Answer, 202: ScheduledAnswer }, 400, 404, 409, 422, 500, 501),
      },
    },
    (request, reply) => {
      const tenant = tenantOf(request)
      const { instance = null, from = null } = request.body
      const given = readTarget(request.body)
      const memberId = senderOf(request, request.body.memberId)
      const content = readContent(request.body)
      const conversion = conversionOf(request.body)
      const replyTo = readReplyTarget(request.body)
      const created = readNewContact(request.body)
      const cause = causeOf(request, ctx.clock())
      const isLater = Boolean(request.body.scheduled_at)
      return answerOnce(ctx, request, reply, {
        perform: async (id) => {
          const scheduledAt = readSendTime(request.body.scheduled_at, ctx.clock())
          const to = await requireNumber(ctx, tenant, given, { field: 'api', place: 'body' })
          const choose = scheduledAt === null ? openChosenChannel : chooseLaterChannel
          const channel = await choose(ctx, tenant, { instance, from, to, replyTo, content })
          if (created) {
            await checkMember(ctx, tenant, memberId)
            if (isLater) await requireRoom(ctx, tenant)
            await ensureRecipient(ctx, tenant, to, { ...created, source: 'send_chat_create' })
          }
          const message = { id, to, content, conversion, replyTo, memberId, cause }
          if (scheduledAt !== null) {
            return toScheduledAnswer(await scheduleMessage(ctx, tenant, channel, { ...message, scheduledAt }))
          }
          const sent = await sendConverted(ctx, tenant, channel, { ...message, isPromotional: false, recipient: null })
          return toAnswer(tenant, content.type, sent)
        },
        recover: async (id) => {
          if (isLater) {
            const scheduled = await findScheduledMessage(ctx, tenant, id)
            return scheduled && toScheduledAnswer(scheduled)
          }
          const result = await findSendResult(ctx, tenant, id)
          return result && toAnswer(tenant, content.type, result)
        },
      })
    },
  )
}
