import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { listUndoableMerges, undoMergeOf } from '../../../core/contacts/resolution/undo-merge.js'
import { tenantOf } from '../../../http/access/auth.js'
import { presentContact } from '../../../model/contacts/contact.js'
import { presentMerge } from '../../../model/contacts/merge.js'
import type { ConsoleServer } from '../server.js'
import { contactPath } from './paths.js'

/** `GET /contacts/{contactId}/merges`, `POST /merges/{id}/undo`. */
export function mergeRoutes(server: ConsoleServer, ctx: Context): void {
  server.get(
    '/contacts/:contactId/merges',
    { config: { scope: 'contacts:read' }, schema: { params: contactPath } },
    async (request) => {
      const merges = await listUndoableMerges(ctx, tenantOf(request).id, request.params.contactId)
      return { success: true, merges: merges.map(presentMerge) }
    },
  )

  server.post(
    '/merges/:id/undo',
    { config: { scope: 'contacts:write' }, schema: { params: Type.Object({ id: Type.String({ format: 'uuid' }) }) } },
    async (request) => {
      const contact = await undoMergeOf(ctx, tenantOf(request).id, request.params.id)
      return { success: true, contact: presentContact(contact, ctx.clock()) }
    },
  )
}
