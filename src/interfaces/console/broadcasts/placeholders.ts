import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { readPlaceholders } from '../../../core/templates/placeholders.js'
import { tenantOf } from '../../../http/access/auth.js'
import { MAX_FULL_NAME } from '../../../model/contacts/contact-input.js'
import { MAX_NUMBER_INPUT } from '../../../model/contacts/written-number.js'
import { Problem } from '../../../model/problem.js'
import type { ConsoleServer } from '../server.js'

const Query = Type.Object({
  contactId: Type.Optional(Type.String({ format: 'uuid' })),
  chatNumber: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NUMBER_INPUT })),
  name: Type.Optional(Type.String({ maxLength: MAX_FULL_NAME, description: 'Full name of a new contact' })),
})

/** `GET /placeholders`: the values of a template's placeholders for one recipient. */
export function placeholderRoutes(server: ConsoleServer, ctx: Context): void {
  server.get(
    '/placeholders',
    { config: { scope: 'contacts:read' }, schema: { querystring: Query } },
    async (request) => {
      const { contactId, chatNumber, name = null } = request.query
      if ((contactId === undefined) === (chatNumber === undefined)) {
        throw new Problem('missing_parameter', 'Give either contactId or chatNumber')
      }
      const recipient = contactId === undefined ? { chatNumber: chatNumber ?? '', name } : { contactId }
      return { success: true, placeholders: await readPlaceholders(ctx, tenantOf(request), recipient) }
    },
  )
}
