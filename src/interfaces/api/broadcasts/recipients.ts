import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { listRecipients } from '../../../core/broadcasts/read.js'
import { exportRecipients } from '../../../core/broadcasts/recipients-file.js'
import { tenantOf } from '../../../http/access/auth.js'
import { sendFile } from '../../../http/answers/send-file.js'
import { successAnswer } from '../../../http/description/name-schemas.js'
import { presentRecipient, RECIPIENT_STATUSES } from '../../../model/broadcasts/broadcast.js'
import { page } from '../../../model/fields.js'
import { limit, PAGE_SIZE, paginationOf } from '../pagination.js'
import { Count, onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { RecipientSchema } from './schemas.js'

const pagination = paginationOf('totalRecipients', 'recipientsPerPage')

/** `GET /broadcasts/{id}/recipients`. */
export function broadcastRecipientRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/broadcasts/:id/recipients',
    {
      config: { scope: 'broadcasts:read' },
      schema: {
        operationId: 'broadcasts.listRecipients',
        summary: 'List the recipients of a broadcast with their outcomes',
        params: onePath,
        querystring: Type.Object({
          status: Type.Optional(Type.Enum([...RECIPIENT_STATUSES])),
          format: Type.Optional(
            Type.Enum(['json', 'csv'], { default: 'json', description: '`csv`: all recipients, as a file' }),
          ),
          page,
          limit,
          tenantId,
        }),
        response: responses(
          {
            200: {
              description: 'One page of recipients, or all of them as a file',
              content: {
                'application/json': {
                  schema: successAnswer('RecipientsAnswer', {
                    recipients: Type.Array(RecipientSchema),
                    pagination: pagination.schema,
                    count: Count,
                  }),
                },
                'text/csv': { schema: Type.String() },
              },
            },
          },
          400,
          404,
        ),
      },
    },
    async (request, reply) => {
      const tenant = tenantOf(request)
      const { id } = request.params
      const { status = null, format = 'json', page = 1, limit = PAGE_SIZE } = request.query
      if (format === 'csv') {
        const parts = await exportRecipients(ctx, tenant, id, status)
        return sendFile(ctx, reply, `recipients-${id}.csv`, parts)
      }
      const { recipients, total } = await listRecipients(ctx, tenant, id, { status, page, limit })
      return {
        success: true,
        recipients: recipients.map(presentRecipient),
        pagination: pagination.show(page, limit, total),
        count: recipients.length,
      }
    },
  )
}
