import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { requireInboxContact } from '../../../core/inbox/find.js'
import { listInbox, listTags } from '../../../core/inbox/list.js'
import { findReplyChannel, findReplyNumbers } from '../../../core/inbox/reply-channel.js'
import { tenantOf } from '../../../http/access/auth.js'
import { memberOf } from '../../../http/access/session.js'
import { presentInboxContact } from '../../../model/conversations/inbox.js'
import { limitOf } from '../../../model/fields.js'
import type { ConsoleServer } from '../server.js'
import { contactPath } from './paths.js'

const CONTACTS_A_PAGE = 50

const Query = Type.Object({
  filter: Type.Optional(Type.Enum(['all', 'unread', 'mine', 'archived'], { default: 'all' })),
  tag: Type.Optional(Type.String({ maxLength: 200 })),
  search: Type.Optional(Type.String({ maxLength: 200, description: 'Part of a name or number' })),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'next_cursor of the previous page' })),
  limit: limitOf(CONTACTS_A_PAGE),
})

/** `GET /inbox`, `GET /inbox/{contactId}`, and the tags to filter by: `GET /tags`. */
export function inboxRoutes(server: ConsoleServer, ctx: Context): void {
  server.get('/inbox', { config: { scope: 'conversations:read' }, schema: { querystring: Query } }, async (request) => {
    const { filter: view = 'all', tag, search, cursor, limit = CONTACTS_A_PAGE } = request.query
    const wanted = { tag: tag || null, search: search?.trim() || null, cursor: cursor || null, limit }
    const asked = { view, memberId: memberOf(request).id, ...wanted }
    const { contacts, nextCursor } = await listInbox(ctx, tenantOf(request), asked)
    const now = ctx.clock()
    return {
      success: true,
      contacts: contacts.map((contact) => presentInboxContact(contact, now)),
      next_cursor: nextCursor,
    }
  })

  server.get(
    '/inbox/:contactId',
    { config: { scope: 'conversations:read' }, schema: { params: contactPath } },
    async (request) => {
      const tenant = tenantOf(request)
      const contact = await requireInboxContact(ctx, tenant.id, request.params.contactId)
      const [channel, numbers] = await Promise.all([
        findReplyChannel(ctx, tenant, contact),
        findReplyNumbers(ctx, tenant, contact),
      ])
      return { success: true, contact: presentInboxContact(contact, ctx.clock()), line: channel, numbers }
    },
  )

  server.get('/tags', { config: { scope: 'contacts:read' } }, async (request) => {
    return { success: true, tags: await listTags(ctx, tenantOf(request).id) }
  })
}
