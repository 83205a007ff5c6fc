import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { requireContact } from '../../../core/contacts/find.js'
import { searchConversation } from '../../../core/conversations/read.js'
import { onReplica } from '../../../core/requests/replica.js'
import { tenantOf } from '../../../http/access/auth.js'
import { presentHit } from '../../../model/conversations/inbox.js'
import { readSearchTerms } from '../../../model/conversations/search-terms.js'
import { limitOf, page } from '../../../model/fields.js'
import { Problem } from '../../../model/problem.js'
import type { ConsoleServer } from '../server.js'
import { contactPath } from './paths.js'

const HITS_A_PAGE = 20

const Query = Type.Object({
  query: Type.String({
    maxLength: 10_000,
    description: 'Search terms, separated by commas. Messages with any of them are found, ignoring case and accents',
  }),
  limit: limitOf(HITS_A_PAGE),
  page,
})

/**
 * `GET /contacts/{contactId}/search`: messages of a conversation that contain any of the terms, newest first. Unlike
 * `GET /conversations`, it returns their numbers, which the page needs to jump to them.
 */
export function threadSearchRoutes(server: ConsoleServer, ctx: Context): void {
  server.get(
    '/contacts/:contactId/search',
    { config: { scope: 'conversations:read' }, schema: { params: contactPath, querystring: Query } },
    async (request) => {
      const { query, limit = HITS_A_PAGE, page = 1 } = request.query
      const terms = readSearchTerms(query)
      if (terms.length === 0) throw new Problem('missing_parameter', 'query contains no words')
      const tenant = tenantOf(request)
      const contact = await requireContact(ctx, tenant.id, request.params.contactId)
      const wanted = { page, limit, ascending: false }
      const { messages, total } = await searchConversation(onReplica(ctx), contact, terms, wanted)
      return {
        success: true,
        messages: messages.map((message) => presentHit(message, ctx.mediaLinks.urlOf)),
        total,
      }
    },
  )
}
