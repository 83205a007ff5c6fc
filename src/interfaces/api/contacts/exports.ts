import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { findContact } from '../../../core/contacts/contacts.js'
import { exportContacts } from '../../../core/contacts/export.js'
import { exportConversation } from '../../../core/conversations/export.js'
import { onReplica } from '../../../core/requests/replica.js'
import { tenantOf } from '../../../http/access/auth.js'
import { sendFile } from '../../../http/answers/send-file.js'
import { successAnswer } from '../../../http/description/name-schemas.js'
import { conversationQuery, readReference } from '../conversations.js'
import { ContactSchema, MessageSchema, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { fileAnswer, format } from './file-answer.js'

/** `/contacts/export`, `/conversations/export`: everything as one file, streamed. */
export function exportRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/contacts/export',
    {
      config: { scope: 'contacts:read' },
      schema: {
        operationId: 'contacts.export',
        summary: 'Export all contacts',
        querystring: Type.Object({ format, tenantId }),
        response: responses(
          fileAnswer(
            'All contacts, oldest first. The CSV has a column for each field.',
            successAnswer('ContactsFile', { contacts: Type.Array(ContactSchema) }),
          ),
          400,
        ),
      },
    },
    async (request, reply) => {
      const { format = 'csv' } = request.query
      const parts = exportContacts(onReplica(ctx), tenantOf(request), format)
      return sendFile(ctx, reply, `contacts.${format}`, parts)
    },
  )

  server.get(
    '/conversations/export',
    {
      config: { scope: 'conversations:read' },
      schema: {
        operationId: 'conversations.export',
        summary: 'Export the conversation with a contact',
        querystring: Type.Object({ ...conversationQuery, format, tenantId }),
        response: responses(
          fileAnswer(
            'All messages, oldest first, up to the newest one when the export began',
            successAnswer('MessagesFile', { messages: Type.Array(MessageSchema) }),
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
      return sendFile(ctx, reply, `conversation-${contact.chat_id}.${format}`, parts)
    },
  )
}
