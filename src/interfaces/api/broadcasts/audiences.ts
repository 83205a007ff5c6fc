import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import type { AudienceFormat } from '../../../core/broadcasts/audience-file.js'
import {
  checkQuota,
  createAudience,
  deleteAudience,
  getAudience,
  listAudiences,
  type NewAudience,
} from '../../../core/broadcasts/uploaded-audiences.js'
import { MAX_IMPORT_BYTES } from '../../../core/contacts/receive-import.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import { chooseTemplate } from '../../../core/templates/templates.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { receiveFile, takeFiles } from '../../../http/uploads.js'
import { presentUploadedAudience } from '../../../model/broadcasts/uploaded-audience.js'
import { Nullable, OptionalText } from '../../../model/fields.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { doubtFields } from '../contacts/csv-import.js'
import { Count, DoneAnswer, onePath, responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const TYPES: Record<string, AudienceFormat> = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' }

const DateTime = Type.String({ format: 'date-time' })

const Row = Type.Integer({ minimum: 1 })

const AudienceSchema = named(
  'UploadedAudience',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    name: Nullable(Type.String()),
    recipients: Count,
    rejected: Type.Integer({ minimum: 0, description: 'Rows of the file that are no recipient' }),
    errors: Type.Array(
      Type.Object({
        row: Row,
        error: Type.String(),
        message: Type.String(),
        value: Type.Optional(Type.String({ description: 'The beginning of the text that the error is about' })),
      }),
      { description: 'The first 100 rejected rows; the first line of the file is row 1' },
    ),
    bodyParameters: Type.Array(Type.String(), { description: 'The names of the parameters that recipients have' }),
    buttonParameters: Type.Array(Type.String()),
    created_at: DateTime,
    expires_at: Type.String({ format: 'date-time', description: '7 days later; then it is deleted' }),
  }),
)

const AudienceAnswer = successAnswer('UploadedAudienceAnswer', { audience: AudienceSchema })
const NewAudienceAnswer = successAnswer('NewAudienceAnswer', {
  audience: AudienceSchema,
  doubtful: Type.Array(Type.Object({ row: Row, ...doubtFields }), {
    description:
      "The first 100 rows whose number has no country code and was read as another country's, or can be read both ways",
  }),
})
const AudiencesAnswer = successAnswer('UploadedAudiencesAnswer', {
  audiences: Type.Array(AudienceSchema),
  count: Count,
})

/** `/audiences`: upload, list, read, delete. */
export function audienceRoutes(server: ApiServer, ctx: Context): void {
  takeFiles(server, (scope) => uploadRoute(scope, ctx), Object.keys(TYPES))

  server.get(
    '/audiences',
    {
      config: { scope: 'broadcasts:read' },
      schema: {
        operationId: 'audiences.list',
        summary: 'List uploaded audiences, newest first',
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: AudiencesAnswer }, 400),
      },
    },
    async (request) => {
      const audiences = await listAudiences(ctx, tenantOf(request))
      return { success: true, audiences: audiences.map(presentUploadedAudience), count: audiences.length }
    },
  )

  server.get(
    '/audiences/:id',
    {
      config: { scope: 'broadcasts:read' },
      schema: {
        operationId: 'audiences.get',
        summary: 'Read one uploaded audience',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: AudienceAnswer }, 400, 404),
      },
    },
    async (request) => {
      const audience = await getAudience(ctx, tenantOf(request), request.params.id)
      return { success: true, audience: presentUploadedAudience(audience) }
    },
  )

  server.delete(
    '/audiences/:id',
    {
      config: { scope: 'broadcasts:write' },
      schema: {
        operationId: 'audiences.delete',
        summary: 'Delete an uploaded audience',
        description: 'Broadcasts that were created from it keep their recipients.',
        params: onePath,
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: DoneAnswer }, 400, 404),
      },
    },
    async (request) => {
      await deleteAudience(ctx, tenantOf(request), request.params.id)
      return { success: true, message: 'Audience deleted' }
    },
  )
}

function uploadRoute(scope: ApiServer, ctx: Context): void {
  scope.post(
    '/audiences',
    {
      config: { scope: 'broadcasts:write', contentType: Object.keys(TYPES).join(' or ') },
      bodyLimit: MAX_IMPORT_BYTES,
      schema: {
        operationId: 'audiences.create',
        summary: 'Upload the recipients of broadcasts as a file',
        description:
          'A table (CSV), or a recipient of POST /broadcasts as JSON on each line. At most 512 MB and 1,000,000 recipients.',
        querystring: Type.Object({
          name: OptionalText(200, 'What the audience is called in lists'),
          templateName: OptionalText(512, 'The template. Columns may have the names of its variables and buttons'),
          language: OptionalText(20, 'The language of that template'),
          tenantId,
        }),
        response: responses({ 201: NewAudienceAnswer }, 400, 409, 422),
      },
    },
    async (request, reply) => {
      const tenant = tenantOf(request)
      const name = request.query.name || null
      const format = formatOf(request)
      // Before the file is received; uploads at the same time are counted when each is complete.
      await checkQuota(ctx.database, tenant, ctx.clock())
      const { templateName, language } = request.query
      const template = templateName ? await chooseTemplate(ctx, tenant, templateName, language || undefined) : null
      const invalid = format === 'csv' ? 'invalid_csv' : 'invalid_json'
      return receiveFile(
        ctx,
        request,
        ({ path, sha256 }) =>
          answerOnce(ctx, request, reply, {
            fingerprint: {
              file: sha256.toString('hex'),
              format,
              name,
              ...(template && { template: [template.name, template.language] }),
            },
            perform: async (id) => {
              const file = { path, format, template }
              return toAnswer(await createAudience(ctx, tenant, { id, name, file }))
            },
            recover: (id) => recover(ctx, tenant, id),
          }),
        invalid,
      )
    },
  )
}

/** Without a body and a type, the file is an empty one. */
function formatOf({ headers }: FastifyRequest): AudienceFormat {
  return TYPES[headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''] ?? 'csv'
}

function toAnswer({ audience, doubtful, warnings }: NewAudience): RepeatableAnswer {
  const shown = { audience: presentUploadedAudience(audience), doubtful }
  const body = { success: true, ...shown, ...(warnings.length > 0 && { warnings }) }
  return { status: 201, body, final: true }
}

async function recover(ctx: Context, tenant: Tenant, id: string): Promise<RepeatableAnswer | null> {
  try {
    return toAnswer({ audience: await getAudience(ctx, tenant, id), doubtful: [], warnings: [] })
  } catch (error) {
    if (error instanceof Problem && error.code === 'audience_not_found') return null
    throw error
  }
}
