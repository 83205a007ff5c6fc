import { Type } from 'typebox'
import type { Context } from '../../../context.js'
import { listLibrary } from '../../../core/templates/library.js'
import { tenantOf } from '../../../http/access/auth.js'
import { named, successAnswer } from '../../../http/description/name-schemas.js'
import { Nullable, OptionalText } from '../../../model/fields.js'
import { responses, tenantId } from '../schemas.js'
import type { ApiServer } from '../server.js'

const Text = Nullable(Type.String())

const LibraryTemplateSchema = named(
  'LibraryTemplate',
  Type.Object({
    name: Type.String({ description: 'The `library_template_name` of POST /templates' }),
    language: Type.String(),
    category: Type.String(),
    topic: Text,
    usecase: Text,
    industry: Type.Array(Type.String()),
    header: Text,
    body: Type.String(),
    footer: Text,
    body_params: Type.Array(Type.String(), { description: 'Examples of the variables, in order' }),
    body_param_types: Type.Array(Type.String(), { description: 'What each variable takes: TEXT, DATE, AMOUNT' }),
    buttons: Type.Array(Type.Object({}, { additionalProperties: true }), {
      description: 'Those of the types URL and PHONE_NUMBER need an item of `library_template_button_inputs`',
    }),
  }),
)

const LibraryAnswer = successAnswer('TemplateLibraryAnswer', {
  templates: Type.Array(LibraryTemplateSchema),
  next: Nullable(Type.String({ description: 'The `after` of the next page; null at the end' })),
})

const MAX_WORD = 100

/** `/templates/library`: the upstream's library. */
export function templateLibraryRoutes(server: ApiServer, ctx: Context): void {
  server.get(
    '/templates/library',
    {
      config: { scope: 'templates:write' },
      schema: {
        operationId: 'templates.library',
        summary: "List WhatsApp's library of templates",
        querystring: Type.Object({
          search: OptionalText(MAX_WORD, 'A part of the name or the text'),
          topic: OptionalText(MAX_WORD, 'A word of WhatsApp, such as ORDER_MANAGEMENT'),
          usecase: OptionalText(MAX_WORD, 'Such as SHIPMENT_CONFIRMATION'),
          industry: OptionalText(MAX_WORD, 'Such as E_COMMERCE'),
          language: OptionalText(MAX_WORD, 'Such as pt_BR'),
          name: OptionalText(MAX_WORD, 'The exact name'),
          after: OptionalText(1_000, 'Where the page begins: the `next` of the page before'),
          tenantId,
        }),
        response: responses({ 200: LibraryAnswer }, 400, 500),
      },
    },
    async (request) => {
      const { tenantId: _, ...query } = request.query
      return { success: true, ...(await listLibrary(ctx, tenantOf(request), query)) }
    },
  )
}
