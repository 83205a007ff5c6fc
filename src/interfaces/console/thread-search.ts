import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { searchConversation } from '../../core/conversations/read.js'
import { requireContact } from '../../core/inbox/find.js'
import { tenantOf } from '../../http/auth.js'
import { presentHit } from '../../model/conversations/inbox.js'
import { readSearchTerms } from '../../model/conversations/search-terms.js'
import { Problem } from '../../model/problem.js'
import { contactPath } from './paths.js'
import type { ConsoleServer } from './server.js'

const HITS_A_PAGE = 20

const Query = Type.Object({
  query: Type.String({
    maxLength: 10_000,
    description: 'Terms, separated by commas, of which a message holds one, whatever the case and accents',
  }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: HITS_A_PAGE })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1 })),
})

/**
 * `GET /contacts/{contactId}/search`: the messages of a thread that hold some words, newest first, each with its number in the
 * thread, by which a reader gets there; `GET /conversations` tells no numbers.
 */
export function threadSearchRoutes(server: ConsoleServer, ctx: Context): void {
  server.get(
    '/contacts/:contactId/search',
    { config: { scope: 'conversations:read' }, schema: { params: contactPath, querystring: Query } },
    async (request) => {
      const { query, limit = HITS_A_PAGE, page = 1 } = request.query
      const terms = readSearchTerms(query)
      if (terms.length === 0) throw new Problem('missing_parameter', 'query holds no words to look for')
      const tenant = tenantOf(request)
      const contact = await requireContact(ctx, tenant.id, request.params.contactId)
      const wanted = { page, limit, ascending: false }
      const { messages, total } = await searchConversation(ctx, tenant, contact, terms, wanted)
      return {
        success: true,
        messages: messages.map((message) => presentHit(message, ctx.mediaLinks.urlOf)),
        total,
      }
    },
  )
}
