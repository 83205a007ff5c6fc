import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import {
  cancelScheduledMessage,
  changeScheduledMessage,
  listScheduledMessages,
} from '../../../core/scheduled/control.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { readSendTime } from '../../../http/moment.js'
import { Maybe, page } from '../../../model/fields.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { presentScheduled, WAITING_STATUSES } from '../../../model/messages/scheduled.js'
import { Problem } from '../../../model/problem.js'
import { limit, PAGE_SIZE, paginationOf } from '../pagination.js'
import { Count, onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { ScheduledAnswer, ScheduledSchema } from './scheduled-fields.js'

const pagination = paginationOf('totalScheduled', 'scheduledPerPage')

const ListQuery = Type.Object({
  contact_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only messages to this contact' })),
  status: Type.Optional(Type.Enum([...WAITING_STATUSES])),
  page,
  limit,
  tenantId,
})

const ListAnswer = successAnswer('ScheduledListAnswer', {
  scheduled: Type.Array(ScheduledSchema),
  pagination: pagination.schema,
  count: Count,
})

const ChangeBody = named(
  'ChangeScheduled',
  Type.Object({
    scheduled_at: Maybe(
      Type.String({
        format: 'date-time',
        description: 'When to send it, with a time zone, at most a year ahead. A paused message is scheduled again.',
      }),
    ),
    text: Maybe(
      Type.String({ minLength: 1, maxLength: LIMITS.text, description: 'The new text; of text messages only' }),
    ),
  }),
)

/** `GET /scheduled`, `PATCH DELETE /scheduled/{id}`. */
export function scheduledRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/scheduled',
    {
      config: { scope: 'conversations:read' },
      schema: {
        operationId: 'messages.listScheduled',
        summary: 'List the messages that are to be sent later, the next one first',
        querystring: ListQuery,
        response: responses({ 200: ListAnswer }, 400),
      },
    },
    async (request) => {
      const { contact_id: contactId = null, status = null, page = 1, limit = PAGE_SIZE } = request.query
      const wanted = { contactId, status, page, limit }
      const { scheduled, total } = await listScheduledMessages(ctx, tenantOf(request).id, wanted)
      return {
        success: true,
        scheduled: scheduled.map(presentScheduled),
        pagination: pagination.show(page, limit, total),
        count: scheduled.length,
      }
    },
  )

  server.patch(
    '/scheduled/:id',
    {
      config: { scope: 'messages:send' },
      schema: {
        operationId: 'messages.changeScheduled',
        summary: 'Change when a scheduled message is sent, or its text',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        body: ChangeBody,
        response: responses({ 200: ScheduledAnswer }, 400, 404, 409),
      },
    },
    async (request) => {
      const { scheduled_at, text = null } = request.body
      const scheduledAt = readSendTime(scheduled_at, ctx.clock())
      if (scheduledAt === null && text === null) {
        throw new Problem('missing_field', 'Give scheduled_at, text, or both: what is to change')
      }
      const { id } = request.params
      const scheduled = await changeScheduledMessage(ctx, tenantOf(request).id, id, { scheduledAt, text })
      return { success: true, message: 'The scheduled message is changed', scheduled: presentScheduled(scheduled) }
    },
  )

  server.delete(
    '/scheduled/:id',
    {
      config: { scope: 'messages:send' },
      schema: {
        operationId: 'messages.cancelScheduled',
        summary: 'Cancel a scheduled message: it is never sent',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: ScheduledAnswer }, 400, 404, 409),
      },
    },
    async (request) => {
      const scheduled = await cancelScheduledMessage(ctx, tenantOf(request).id, request.params.id)
      return { success: true, message: 'The scheduled message is cancelled', scheduled: presentScheduled(scheduled) }
    },
  )
}
