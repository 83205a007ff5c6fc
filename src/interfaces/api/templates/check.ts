import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { findFaults } from '../../../core/templates/create.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { answerOnce } from '../../../http/idempotency.js'
import { toEnglish } from '../../../model/sentence.js'
import { NewTemplateBody } from '../../../model/templates/manage-input.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const CheckAnswer = successAnswer('TemplateCheckAnswer', {
  faults: Type.Array(
    Type.Object({
      field: Type.String({ description: 'The path of the field, such as `components[1].text`' }),
      message: Type.String(),
      sentence: Type.Object(
        { code: Type.String(), values: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])) },
        { description: 'The message as a code and its values, from which the page makes it in other languages' },
      ),
    }),
    { description: 'Empty if nothing is wrong' },
  ),
})

/** `/templates/check`: what WhatsApp would not take of a template, without creating it. */
export function templateCheckRoutes(server: ApiServer, ctx: Context): void {
  server.post(
    '/templates/check',
    {
      config: { scope: 'templates:write' },
      schema: {
        operationId: 'templates.check',
        summary: 'Check a template without creating it',
        description:
          'Lists what WhatsApp would not take of the body of POST /templates, as far as its rules are known.',
        querystring: Type.Object({ tenantId }),
        body: named('NewTemplate', NewTemplateBody),
        response: responses({ 200: CheckAnswer }, 400, 409, 422),
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, {
        perform: async () => {
          const found = await findFaults(ctx, tenantOf(request), request.body)
          const faults = found.map(({ field, sentence }) => ({ field, message: toEnglish(sentence), sentence }))
          return { status: 200, body: { success: true, faults }, final: true }
        },
        recover: async () => null,
      }),
  )
}
