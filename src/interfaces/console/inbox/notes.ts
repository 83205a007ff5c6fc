import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { removeNote, writeNote } from '../../../core/inbox/notes.js'
import { tenantOf } from '../../../http/access/auth.js'
import { memberOf } from '../../../http/access/session.js'
import { presentNote } from '../../../model/conversations/inbox.js'
import type { ConsoleServer } from '../server.js'
import { contactPath } from './paths.js'

const MAX_NOTE = 4_000

/** `POST /contacts/{contactId}/notes`, `DELETE /notes/{id}`. */
export function noteRoutes(server: ConsoleServer, ctx: Context): void {
  server.post(
    '/contacts/:contactId/notes',
    {
      config: { scope: 'contacts:write' },
      schema: {
        params: contactPath,
        body: Type.Object({ text: Type.String({ minLength: 1, maxLength: MAX_NOTE, 'x-missing': true }) }),
      },
    },
    async (request, reply) => {
      const { contactId } = request.params
      const { text } = request.body
      const note = await writeNote(ctx, tenantOf(request).id, { contactId, author: memberOf(request), text })
      return reply.code(201).send({ success: true, note: presentNote(note) })
    },
  )

  server.delete(
    '/notes/:id',
    { config: { scope: 'contacts:write' }, schema: { params: Type.Object({ id: Type.String({ format: 'uuid' }) }) } },
    async (request) => {
      await removeNote(ctx, tenantOf(request).id, request.params.id, memberOf(request))
      return { success: true, message: 'Note deleted' }
    },
  )
}
