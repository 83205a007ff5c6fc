import { finished } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { exportContacts } from '../../core/contacts/export.js'
import { findContact } from '../../core/contacts.js'
import { exportConversation } from '../../core/conversation-export.js'
import { tenantOf } from '../../http/auth.js'
import { startStream } from '../../http/stream.js'
import { conversationQuery, readReference } from './conversations.js'
import { ContactSchema, MessageSchema, responses, tenantId } from './schemas.js'
import type { ApiServer } from './server.js'

const format = Type.Optional(Type.Enum(['csv', 'json'], { default: 'csv' }))

/** A client that takes nothing for so long is taken for gone; it would also keep the service from ending. */
const STUCK_MS = 60_000

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
      const parts = exportContacts(ctx, tenantOf(request), format)
      return sendFile(ctx, request, reply, `contacts.${format}`, parts)
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
      return sendFile(ctx, request, reply, `conversation-${contact.chat_id}.${format}`, parts)
    },
  )
}

/** The place of an export is taken until its last part is sent, or nobody takes more of it. */
function sendFile(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  filename: string,
  parts: AsyncGenerator<string>,
): Promise<FastifyReply> {
  return ctx.exportGate.pass(tenantOf(request).id, async () => {
    const stream = await startStream(parts)
    reply.headers({
      'content-type': filename.endsWith('.json') ? 'application/json; charset=utf-8' : 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${filename}"`,
    })
    if (request.method === 'HEAD') {
      stream.destroy()
      return reply.send()
    }
    request.raw.setTimeout(STUCK_MS, () => request.raw.destroy())
    reply.send(stream)
    // What broke is told to the client by the connection, and in the log.
    await finished(stream).catch(() => undefined)
    request.raw.setTimeout(0)
    return reply
  })
}
