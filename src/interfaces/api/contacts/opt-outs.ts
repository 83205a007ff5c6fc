import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { exportOptOuts } from '../../../core/contacts/export-opt-outs.js'
import { importOptOuts } from '../../../core/contacts/import-opt-outs.js'
import { listOptOuts } from '../../../core/contacts/opt-outs.js'
import { onReplica } from '../../../core/requests/replica.js'
import { tenantOf } from '../../../http/access/auth.js'
import { sendFile } from '../../../http/answers/send-file.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { takeFiles } from '../../../http/uploads.js'
import { presentOptOut } from '../../../model/contacts/opt-out.js'
import { Nullable, page } from '../../../model/fields.js'
import { limit, PAGE_SIZE, paginationOf } from '../pagination.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'
import { answerImport, ImportAnswer, takesFile } from './csv-import.js'
import { fileAnswer, format } from './file-answer.js'

const OptOutSchema = named(
  'OptOut',
  Type.Object({
    contactId: Type.String({ format: 'uuid' }),
    chatNumber: Type.String({ description: 'The chat_id of the contact' }),
    contactName: Nullable(Type.String()),
    opted_out_at: Type.String({ format: 'date-time' }),
    source: Type.Enum(['reply', 'upstream', 'import'], {
      description:
        '`reply`: the contact asked for it; `upstream`: WhatsApp reported it; `import`: it was in an imported list',
    }),
    words: Nullable(
      Type.String({ description: "The text of the reply, or WhatsApp's sentence. Null if there was none" }),
    ),
  }),
)

const Query = Type.Object({
  limit,
  page,
  tenantId,
})

const Pagination = paginationOf('totalOptOuts', 'optOutsPerPage')

const ListAnswer = successAnswer('OptOutsAnswer', {
  optOuts: Type.Array(OptOutSchema),
  pagination: Pagination.schema,
  count: Type.Integer({ minimum: 0, description: 'Opt-outs in this answer' }),
})

/** `/opt-outs`: the contacts that want no broadcasts any more; as a file, and from one. */
export function optOutRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/opt-outs',
    {
      config: { scope: 'contacts:read' },
      schema: {
        operationId: 'optOuts.list',
        summary: 'List the contacts that have opted out of broadcasts, newest first',
        querystring: Query,
        response: responses({ 200: ListAnswer }, 400),
      },
    },
    async (request) => {
      const { limit = PAGE_SIZE, page = 1 } = request.query
      const { contacts, total } = await listOptOuts(ctx, tenantOf(request), { page, limit })
      return {
        success: true,
        optOuts: contacts.map(presentOptOut),
        pagination: Pagination.show(page, limit, total),
        count: contacts.length,
      }
    },
  )

  server.get(
    '/opt-outs/export',
    {
      config: { scope: 'contacts:read' },
      schema: {
        operationId: 'optOuts.export',
        summary: 'Export all opt-outs',
        querystring: Type.Object({ format, tenantId }),
        response: responses(
          fileAnswer(
            'All opt-outs, newest first. The CSV can be imported.',
            successAnswer('OptOutsFile', { optOuts: Type.Array(OptOutSchema) }),
          ),
          400,
        ),
      },
    },
    async (request, reply) => {
      const { format = 'csv' } = request.query
      const parts = exportOptOuts(onReplica(ctx), tenantOf(request), format)
      return sendFile(ctx, reply, `opt-outs.${format}`, parts)
    },
  )

  takeFiles(server, (scope) => {
    scope.post(
      '/opt-outs/import',
      {
        ...takesFile,
        schema: {
          operationId: 'optOuts.import',
          summary: 'Import opt-outs from a CSV file',
          description:
            'UTF-8, at most 512 MB. The columns are `phone_number` or `chat_id`, and optionally `opted_out_at` and `full_name`. Unknown numbers become contacts.',
          querystring: Type.Object({ tenantId }),
          response: responses({ 200: ImportAnswer }, 400, 409, 422),
        },
      },
      (request, reply) =>
        answerImport(ctx, request, reply, {
          options: {},
          importFile: (path, report) => importOptOuts(ctx, tenantOf(request), path, report),
        }),
    )
  })
}
