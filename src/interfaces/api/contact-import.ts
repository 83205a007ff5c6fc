import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../context.js'
import type { ImportOptions } from '../../core/contacts/import.js'
import { type ImportReport, importWithReport } from '../../core/contacts/import-report.js'
import { MAX_IMPORT_BYTES, tooLarge, type Upload, withUpload } from '../../core/contacts/receive-import.js'
import { tenantOf } from '../../http/auth.js'
import { answerOnce } from '../../http/idempotency.js'
import { Nullable } from '../../model/input.js'
import { Problem } from '../../model/problem.js'
import { responses, tenantId } from './schemas.js'
import type { ApiServer } from './server.js'

const Query = Type.Object({
  existing: Type.Optional(
    Type.Enum(['update', 'skip'], {
      default: 'update',
      description: 'Contacts that are there already: update = they get the cells that are not empty; skip = left alone',
    }),
  ),
  tenantId,
})

const Count = Type.Integer({ minimum: 0 })

const Answer = Type.Object({
  success: Type.Literal(true),
  summary: Type.Object({
    total: Count,
    created: Count,
    updated: Count,
    unchanged: Count,
    skipped: Count,
    failed: Count,
  }),
  results: Type.Array(
    Type.Object({
      row: Type.Integer({ minimum: 2, description: 'As a spreadsheet numbers the rows: the header is 1' }),
      status: Type.Enum(['created', 'updated', 'unchanged', 'skipped', 'failed']),
      chat_id: Nullable(Type.String()),
      id: Nullable(Type.String({ format: 'uuid' })),
      error: Type.Optional(Type.String({ description: 'Of a failed row: as POST /contact would answer' })),
      message: Type.Optional(Type.String()),
    }),
    { description: 'One for each row that is not blank, in the order of the file' },
  ),
  results_truncated: Type.Optional(
    Type.Literal(true, {
      description: 'In a replayed answer of more than 1 MB: results holds only failed rows, the first 1 MB of them',
    }),
  ),
})

/** `POST /contacts/import`: contacts from a CSV file (contract 4). */
export function contactImportRoutes(server: ApiServer, ctx: Context): void {
  // In a scope of its own: this body is the only one that is not JSON.
  server.register(async (scope: ApiServer) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('text/csv', (request, payload, done) => {
      if (Number(request.headers['content-length']) > MAX_IMPORT_BYTES) done(tooLarge())
      else done(null, payload)
    })
    scope.post(
      '/contacts/import',
      {
        config: { scope: 'contacts:write', contentType: 'text/csv' },
        bodyLimit: MAX_IMPORT_BYTES,
        schema: {
          summary: 'Import contacts from a CSV file',
          description:
            'UTF-8, at most 512 MB; the first row names the columns, of which phone_number or chat_id is required',
          querystring: Query,
          response: responses({ 200: Answer }, 400, 409, 422),
        },
      },
      (request, reply) =>
        ctx.importGate.pass(tenantOf(request).id, () =>
          withUpload(ctx, fileOf(request), (upload) =>
            answerImport(ctx, request, reply, upload, { existing: request.query.existing ?? 'update' }),
          ),
        ),
    )
  })
}

/** No body at all is an empty file. */
function fileOf({ body, headers }: FastifyRequest): Readable {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    throw new Problem(
      'unsupported_media_type',
      `The Content-Encoding "${encoding}" is not supported: send the file as it is`,
    )
  }
  const charset = /charset="?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new Problem('unsupported_media_type', `The charset "${charset}" is not supported: send the file as UTF-8`)
  }
  return body instanceof Readable ? body : Readable.from([])
}

async function answerImport(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { path, sha256 }: Upload,
  options: ImportOptions,
): Promise<unknown> {
  let report: ImportReport | undefined
  try {
    const kept = await answerOnce(ctx, request, reply, {
      fingerprint: { file: sha256.toString('hex'), ...options },
      perform: async () => {
        report = await importWithReport(ctx, tenantOf(request), path, options)
        return { status: 200, body: report.kept, final: true }
      },
      // What an attempt imported before its process died is there already for the next one.
      recover: async () => null,
    })
    if (report === undefined) return kept
    reply.header('content-type', 'application/json; charset=utf-8')
    return report.whole
  } catch (error) {
    report?.whole.destroy()
    throw error
  }
}
