import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { playCustomer } from '../../../core/inbox/play-customer.js'
import { tenantOf } from '../../../http/access/auth.js'
import type { ConsoleServer } from '../server.js'
import { contactPath } from './paths.js'

const MAX_TEXT = 4_096

/** `POST /contacts/{contactId}/play`: sends a text as the contact, in the sandbox. */
export function playCustomerRoutes(server: ConsoleServer, ctx: Context): void {
  server.post(
    '/contacts/:contactId/play',
    {
      config: { scope: 'messages:send' },
      schema: { params: contactPath, body: Type.Object({ text: Type.String({ minLength: 1, maxLength: MAX_TEXT }) }) },
    },
    async (request) => {
      await playCustomer(ctx, tenantOf(request), request.params.contactId, request.body.text)
      return { success: true }
    },
  )
}
