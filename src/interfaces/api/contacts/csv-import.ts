import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { type ImportReport, importWithReport, type ReportingImport } from '../../../core/contacts/import-report.js'
import { MAX_IMPORT_BYTES, tooLarge, type Upload, withUpload } from '../../../core/contacts/receive-import.js'
import { withArriving } from '../../../core/runtime/arriving-files.js'
import { tenantOf } from '../../../http/access/auth.js'
import { requireUtf8 } from '../../../http/charset.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { Nullable } from '../../../model/fields.js'
import { Problem } from '../../../model/problem.js'
import type { ApiServer } from '../server.js'

const Count = Type.Integer({ minimum: 0 })

const Result = named(
  'ImportedRow',
  Type.Object({
    row: Type.Integer({ minimum: 2, description: 'The row as a spreadsheet numbers it: the header is row 1' }),
    status: Type.Enum(['created', 'updated', 'unchanged', 'skipped', 'failed']),
    chat_id: Nullable(Type.String()),
    id: Nullable(Type.String({ format: 'uuid' })),
    error: Type.Optional(Type.String({ description: 'Why the row failed, as POST /contact answers it' })),
    message: Type.Optional(Type.String()),
  }),
)

/** What became of a file. */
export const ImportAnswer = successAnswer('ImportReport', {
  summary: Type.Object({
    total: Count,
    created: Count,
    updated: Count,
    unchanged: Count,
    skipped: Count,
    failed: Count,
  }),
  failures: Type.Array(Result, { description: 'The first 1,000 rows that failed' }),
  results: Type.Array(Result, { description: 'One for each row that is not blank, in the order of the file' }),
  results_truncated: Type.Optional(
    Type.Literal(true, {
      description: 'True in a replayed answer of more than 1 MB: `results` has only failed rows, up to 1 MB of them',
    }),
  ),
})

/** What a route that takes a file is configured with. */
export const takesFile = {
  config: { scope: 'contacts:write', contentType: 'text/csv' },
  bodyLimit: MAX_IMPORT_BYTES,
} as const

/** Adds routes whose body is a file of one of these types, in a scope of their own: all other bodies are JSON. */
export function takeFiles(server: ApiServer, addRoutes: (scope: ApiServer) => void, types = ['text/csv']): void {
  server.register(async (scope: ApiServer) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(types, (request, payload, done) => {
      if (Number(request.headers['content-length']) > MAX_IMPORT_BYTES) done(tooLarge())
      else done(null, payload)
    })
    addRoutes(scope)
  })
}

/** What is imported of a file that has come whole, and how. */
export interface FileImport {
  /** What counts beside the file where a key is used again. */
  options: object
  importFile: (path: string, ...report: Parameters<ReportingImport>) => ReturnType<ReportingImport>
}

/** Takes the file of a request and answers what became of it. */
export function answerImport(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { options, importFile }: FileImport,
): Promise<unknown> {
  return receiveFile(ctx, request, ({ path, sha256 }) => {
    const fingerprint = { file: sha256.toString('hex'), ...options }
    return answerWithReport(ctx, request, reply, fingerprint, async (report) => {
      const { summary, warnings } = await importFile(path, report)
      return { summary, warnings: [...(request.warnings ?? []), ...warnings] }
    })
  })
}

/** Receives the file of a request within the limits of imports, and passes it to `work`. Throws as withUpload. */
export function receiveFile<Result>(
  ctx: Context,
  request: FastifyRequest,
  work: (upload: Upload) => Promise<Result>,
  invalid?: Parameters<typeof withUpload>[3],
): Promise<Result> {
  const { id } = tenantOf(request)
  const { importedFiles } = ctx.limits
  const file = fileOf(request)
  importedFiles.check(id)
  return withArriving(ctx, id, file, (arriving) =>
    withUpload(ctx, arriving, (upload) => importedFiles.pass(id, () => work(upload)), invalid),
  )
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
  requireUtf8(headers['content-type'], 'the file')
  return body instanceof Readable ? body : Readable.from([])
}

async function answerWithReport(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  fingerprint: object,
  work: ReportingImport,
): Promise<unknown> {
  let report: ImportReport | undefined
  try {
    const kept = await answerOnce(ctx, request, reply, {
      fingerprint,
      perform: async () => {
        report = await importWithReport(ctx, work)
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
