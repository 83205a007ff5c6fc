import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { readList } from '../../../core/broadcasts/read-list.js'
import { MAX_IMPORT_BYTES } from '../../../core/contacts/receive-import.js'
import { chooseTemplate } from '../../../core/templates/templates.js'
import { tenantOf } from '../../../http/access/auth.js'
import { receiveFile, takeFiles } from '../../../http/uploads.js'
import type { ConsoleServer } from '../server.js'

const Query = Type.Object({
  templateName: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  language: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
})

/**
 * `POST /lists`: reads a list of recipients (CSV), which is not stored, as `POST /audiences` does: what is in it, which
 * rows are left out, and whom a broadcast would reach.
 */
export function listRoutes(server: ConsoleServer, ctx: Context): void {
  takeFiles(server, (scope) => {
    scope.post(
      '/lists',
      {
        bodyLimit: MAX_IMPORT_BYTES,
        config: { scope: 'broadcasts:write', contentType: 'text/csv' },
        schema: { querystring: Query },
      },
      async (request) => {
        const tenant = tenantOf(request)
        const { templateName, language } = request.query
        const template = templateName ? await chooseTemplate(ctx, tenant, templateName, language) : null
        const list = await receiveFile(ctx, request, ({ path }) => {
          return readList(ctx, tenant, { path, format: 'csv', template })
        })
        return { success: true, list }
      },
    )
  })
}
