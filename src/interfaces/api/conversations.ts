import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { readConversation } from '../../core/conversations.js'
import { tenantOf } from '../../http/auth.js'
import { presentMessage } from '../../model/message.js'
import { Problem } from '../../model/problem.js'
import { MessageSchema, Nullable, PaginationSchema, responses, tenantId } from './schemas.js'
import type { ApiServer } from './server.js'

const DEFAULT_LIMIT = 10

const Query = Type.Object({
  action: Type.Optional(Type.Enum(['conversation-messages'])),
  chatNumber: Type.Optional(Type.String({ description: 'Phone number of the contact, in any form', maxLength: 100 })),
  contactId: Type.Optional(Type.String({ format: 'uuid', description: 'In place of chatNumber' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: DEFAULT_LIMIT })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1 })),
  ascending: Type.Optional(Type.Boolean({ default: false, description: 'true = oldest first' })),
  tenantId,
})

const Answer = Type.Object({
  success: Type.Literal(true),
  messages: Type.Array(MessageSchema),
  pagination: PaginationSchema,
  count: Type.Integer({ minimum: 0, description: 'Messages in this answer' }),
  searchTerms: Nullable(Type.Array(Type.String())),
  filtered: Type.Boolean({ description: 'Whether the messages were searched' }),
  stored: Type.Boolean({ description: "Whether the conversation is held in the contact's record" }),
})

/** `GET /conversations` (spec 4.2). */
export function conversationRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/conversations',
    {
      config: { scope: 'conversations:read' },
      schema: {
        summary: 'Read the messages of a conversation',
        querystring: Query,
        response: responses({ 200: Answer }, 400, 404),
      },
    },
    async (request) => {
      const { chatNumber, contactId, limit = DEFAULT_LIMIT, page = 1, ascending = false } = request.query
      if (chatNumber === undefined && contactId === undefined) {
        throw new Problem('missing_parameter', 'chatNumber (or contactId) query parameter is required')
      }
      const reference = { chatNumber, contactId }
      const { messages, total } = await readConversation(ctx, tenantOf(request), reference, { page, limit, ascending })
      const totalPages = Math.ceil(total / limit)
      return {
        success: true,
        messages: messages.map((message) => presentMessage(message, ctx.mediaLinks.urlOf)),
        pagination: {
          currentPage: page,
          totalPages,
          totalMessages: total,
          messagesPerPage: limit,
          hasNextPage: page < totalPages,
          hasPrevPage: page > 1 && totalPages > 0,
        },
        count: messages.length,
        searchTerms: null,
        filtered: false,
        stored: total > 0,
      }
    },
  )
}
