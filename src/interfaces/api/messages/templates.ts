import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { requireUpstream } from '../../../core/organizations/business-number.js'
import { syncTemplates } from '../../../core/templates/sync.js'
import { listTemplates } from '../../../core/templates/templates.js'
import { tenantOf } from '../../../http/access/auth.js'
import { successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { presentTemplate } from '../../../model/templates/template.js'
import { responses, TemplateSchema, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const TemplatesAnswer = successAnswer('TemplatesAnswer', { templates: Type.Array(TemplateSchema) })

const SyncAnswer = successAnswer('SyncAnswer', {
  message: Type.String(),
  total: Type.Integer({ description: 'Number of templates' }),
  added: Type.Integer(),
  changed: Type.Integer(),
  removed: Type.Integer(),
  synced_at: Type.String({ format: 'date-time' }),
})

/** `/templates`: list those that are known, fetch them from the upstream. */
export function templateRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/templates',
    {
      config: { scope: 'templates:send' },
      schema: {
        operationId: 'templates.list',
        summary: "List the organization's templates by name and language",
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: TemplatesAnswer }, 400),
      },
    },
    async (request) => {
      const tenant = tenantOf(request)
      requireUpstream(tenant)
      const templates = await listTemplates(ctx, tenant.id)
      return { success: true, templates: templates.map(presentTemplate) }
    },
  )

  server.post(
    '/templates/sync',
    {
      config: { scope: 'templates:send' },
      schema: {
        operationId: 'templates.sync',
        summary: 'Fetch the templates from WhatsApp now',
        description: 'Parley does this every hour, and when WhatsApp reports a change.',
        querystring: Type.Object({ tenantId }),
        response: responses({ 200: SyncAnswer }, 400, 409, 422, 500),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        perform: async () => {
          const { syncedAt, ...counts } = await syncTemplates(ctx, tenantOf(request))
          const message = `${counts.total} templates are known`
          const body = { success: true, message, ...counts, synced_at: syncedAt.toISOString() }
          return { status: 200, body, final: true }
        },
        recover: async () => null,
      }),
  )
}
