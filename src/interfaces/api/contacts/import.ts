import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { importContacts } from '../../../core/contacts/import.js'
import { tenantOf } from '../../../http/access/auth.js'
import { takeFiles } from '../../../http/uploads.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { answerImport, ImportAnswer, takesFile } from './csv-import.js'

const Query = Type.Object({
  existing: Type.Optional(
    Type.Enum(['update', 'skip'], {
      default: 'update',
      description:
        'What happens to contacts that exist: `update` writes the cells that are not empty, `skip` leaves them as they are',
    }),
  ),
  tenantId,
})

/** `POST /contacts/import`: contacts from a CSV file. */
export function contactImportRoutes(server: ApiServer, ctx: Context): void {
  takeFiles(server, (scope) => {
    scope.post(
      '/contacts/import',
      {
        ...takesFile,
        schema: {
          operationId: 'contacts.import',
          summary: 'Import contacts from a CSV file',
          description:
            'UTF-8, at most 512 MB. The first row names the columns; `phone_number` or `chat_id` is required.',
          querystring: Query,
          response: responses({ 200: ImportAnswer }, 400, 409, 422),
        },
      },
      (request, reply) => {
        const options = { existing: request.query.existing ?? 'update' }
        return answerImport(ctx, request, reply, {
          options,
          importFile: (path, report) => importContacts(ctx, tenantOf(request), path, { ...options, report }),
        })
      },
    )
  })
}
