import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { assignConversation } from '../../../core/inbox/assign.js'
import { tenantOf } from '../../../http/access/auth.js'
import { presentInboxContact } from '../../../model/conversations/inbox.js'
import { Nullable } from '../../../model/fields.js'
import type { ConsoleServer } from '../server.js'
import { contactPath } from './paths.js'

/** `PUT /contacts/{contactId}/assignee`. */
export function assignmentRoutes(server: ConsoleServer, ctx: Context): void {
  server.put(
    '/contacts/:contactId/assignee',
    {
      config: { scope: 'contacts:write' },
      schema: {
        params: contactPath,
        body: Type.Object({ member_id: Nullable(Type.String({ format: 'uuid' })) }),
      },
    },
    async (request) => {
      const { member_id: memberId } = request.body
      const contact = await assignConversation(ctx, tenantOf(request).id, request.params.contactId, memberId)
      return { success: true, contact: presentInboxContact(contact, ctx.clock()) }
    },
  )
}
