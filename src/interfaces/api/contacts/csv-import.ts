import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { type ImportReport, importWithReport, type ReportingImport } from '../../../core/contacts/import-report.js'
import { MAX_IMPORT_BYTES } from '../../../core/contacts/receive-import.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { receiveFile } from '../../../http/uploads.js'
import { Nullable } from '../../../model/fields.js'

/** How a number without a country code was read. */
export const doubtFields = {
  given: Type.String(),
  read_as: Type.String({ description: 'With + and country code' }),
  or: Nullable(
    Type.String({ description: "How it can be read as well. Null if it is no number of the organization's country." }),
  ),
}

const Count = Type.Integer({ minimum: 0 })

const Doubt = named(
  'NumberInDoubt',
  Type.Object(doubtFields, { description: 'How the number of a row without a country code was read' }),
)

const Result = named(
  'ImportedRow',
  Type.Object({
    row: Type.Integer({ minimum: 1, description: 'The row as a spreadsheet numbers it: the header is row 1' }),
    status: Type.Enum(['created', 'updated', 'unchanged', 'skipped', 'failed']),
    chat_id: Nullable(Type.String()),
    id: Nullable(Type.String({ format: 'uuid' })),
    doubt: Type.Optional(Doubt),
    error: Type.Optional(Type.String({ description: 'Why the row failed, as POST /contact answers it' })),
    message: Type.Optional(Type.String()),
    value: Type.Optional(Type.String({ description: 'The beginning of the text that the error is about' })),
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
  doubtful: Type.Array(Result, {
    description:
      "The first 1,000 rows whose number has no country code and was read as another country's, or can be read both ways",
  }),
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
    return answerWithReport(ctx, reply, fingerprint, async (report) => {
      const { summary, warnings } = await importFile(path, report)
      return { summary, warnings: [...(request.warnings ?? []), ...warnings] }
    })
  })
}

async function answerWithReport(
  ctx: Context,
  reply: FastifyReply,
  fingerprint: object,
  work: ReportingImport,
): Promise<unknown> {
  let report: ImportReport | undefined
  try {
    const kept = await answerOnce(ctx, reply.request, reply, {
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
