import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import type { RepeatableAnswer } from '../../../core/requests/idempotency.js'
import { createTemplate, findCreated } from '../../../core/templates/create.js'
import { deleteTemplate } from '../../../core/templates/delete.js'
import { editTemplate } from '../../../core/templates/edit.js'
import { tenantOf } from '../../../http/access/auth.js'
import { bodyOf, statusOf } from '../../../http/answers/problems.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { Problem } from '../../../model/problem.js'
import { NewTemplateBody, TemplateEditBody, TemplateKey } from '../../../model/templates/manage-input.js'
import { presentTemplate, type Template } from '../../../model/templates/template.js'
import { responses, TemplateSchema, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const TemplateAnswer = successAnswer('TemplateAnswer', { message: Type.String(), template: TemplateSchema })
const DeletedAnswer = successAnswer('TemplatesDeletedAnswer', {
  message: Type.String(),
  languages: Type.Array(Type.String(), { description: 'The languages in which the template was deleted' }),
})

/** `/templates`: create, edit, delete. */
export function templateChangeRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/templates',
    {
      config: { scope: 'templates:write' },
      schema: {
        operationId: 'templates.create',
        summary: 'Create a template at WhatsApp, which reviews it',
        description:
          'With `components` of its own, those of a template of yours (`copy_of`), or those of the library (`library_template_name`). What WhatsApp would not take is refused before anything is sent; POST /templates/check lists all of it.',
        querystring: Type.Object({ tenantId }),
        body: named('NewTemplate', NewTemplateBody),
        response: responses({ 201: TemplateAnswer }, 400, 409, 422, 500),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        perform: () => keepingUnknown(async () => created(await createTemplate(ctx, tenantOf(request), request.body))),
        recover: async () => {
          const template = await findCreated(ctx, tenantOf(request), request.body)
          return template && created(template)
        },
      }),
  )

  server.patch(
    '/templates',
    {
      config: { scope: 'templates:write' },
      schema: {
        operationId: 'templates.update',
        summary: 'Edit a template, which WhatsApp reviews again',
        description:
          'Only templates that are APPROVED, REJECTED or PAUSED. `components` replaces all of them. WhatsApp takes one edit of an approved template in 24 hours and 10 in 30 days, and never another category.',
        querystring: Type.Object({ ...TemplateKey, tenantId }),
        body: named('TemplateEdit', TemplateEditBody),
        response: responses({ 200: TemplateAnswer }, 400, 409, 500),
      },
    },
    async (request) => {
      const { name, language } = request.query
      const template = await editTemplate(ctx, tenantOf(request), { name, language }, request.body)
      return { success: true, message: `The template is ${template.status}`, template: presentTemplate(template) }
    },
  )

  server.delete(
    '/templates',
    {
      config: { scope: 'templates:write' },
      schema: {
        operationId: 'templates.delete',
        summary: 'Delete a template in one language, or in all',
        description:
          'WhatsApp does not take the name of a deleted template for 30 days. Without `language`, the template is deleted in all languages.',
        querystring: Type.Object({ ...TemplateKey, language: Type.Optional(TemplateKey.language), tenantId }),
        response: responses({ 200: DeletedAnswer }, 400, 409, 500),
      },
    },
    async (request) => {
      const { name, language = null } = request.query
      const languages = await deleteTemplate(ctx, tenantOf(request), name, language)
      return { success: true, message: 'Template deleted', languages }
    },
  )
}

function created(template: Template): RepeatableAnswer {
  const message = `The template is ${template.status}`
  return { status: 201, body: { success: true, message, template: presentTemplate(template) }, final: true }
}

/** An unknown outcome is kept, so that a repeated request looks for the template instead of creating it again. */
async function keepingUnknown(perform: () => Promise<RepeatableAnswer>): Promise<RepeatableAnswer> {
  try {
    return await perform()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'outcome_unknown') throw error
    return { status: statusOf(error), body: bodyOf(error), final: true }
  }
}
