import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { type ExportFormat, exportContacts } from '../../core/contacts/export.js'
import { findContact } from '../../core/contacts.js'
import { exportConversation } from '../../core/conversation-export.js'
import { tenantOf } from '../../http/auth.js'
import { startStream } from '../../http/stream.js'
import { conversationQuery, readReference } from './conversations.js'
import { ContactSchema, MessageSchema, responses, tenantId } from './schemas.js'
import type { ApiServer } from './server.js'

const format = Type.Optional(Type.Enum(['csv', 'json'], { default: 'csv' }))

const CONTENT_TYPES = { csv: 'text/csv; charset=utf-8', json: 'application/json; charset=utf-8' }

/** An answer that is a file in either format. */
const file = (description: string, json: ReturnType<typeof Type.Object>) => ({
  200: {
    description,
    content: { 'text/csv': { schema: Type.String() }, 'application/json': { schema: json } },
  },
})

/** `/contacts/export`, `/conversations/export`: everything as one file, streamed. */
export function exportRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/contacts/export',
    {
      config: { scope: 'contacts:read' },
      schema: {
        summary: 'Export all contacts',
        querystring: Type.Object({ format, tenantId }),
        response: responses(
          file(
            'All contacts, in the order in which they were made; the CSV has a column for each field',
            Type.Object({ success: Type.Literal(true), contacts: Type.Array(ContactSchema) }),
          ),
          400,
        ),
      },
    },
    async (request, reply) => {
      const { format = 'csv' } = request.query
      return sendFile(request, reply, 'contacts', format, exportContacts(ctx, tenantOf(request), format))
    },
  )

  server.get(
    '/conversations/export',
    {
      config: { scope: 'conversations:read' },
      schema: {
        summary: 'Export the conversation with a contact',
        querystring: Type.Object({ ...conversationQuery, format, tenantId }),
        response: responses(
          file(
            'All messages, oldest first, up to the newest at the beginning',
            Type.Object({ success: Type.Literal(true), messages: Type.Array(MessageSchema) }),
          ),
          400,
          404,
        ),
      },
    },
    async (request, reply) => {
      const { format = 'csv' } = request.query
      const tenant = tenantOf(request)
      const contact = await findContact(ctx, tenant, readReference(request.query), 'query')
      const parts = exportConversation(ctx, tenant, contact, format)
      return sendFile(request, reply, `conversation-${contact.chat_id}`, format, parts)
    },
  )
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  format: ExportFormat,
  parts: AsyncGenerator<string>,
) {
  const stream = await startStream(parts)
  reply.headers({
    'content-type': CONTENT_TYPES[format],
    'content-disposition': `attachment; filename="${name}.${format}"`,
  })
  if (request.method !== 'HEAD') return reply.send(stream)
  stream.destroy()
  return reply.send()
}
