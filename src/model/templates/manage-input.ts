import { type Static, Type } from 'typebox'
import { TEMPLATE_LIMITS } from '../../upstream/template-limits.js'
import { Maybe, RequiredText } from '../fields.js'
import { CATEGORIES } from './rules/draft.js'

const MAX_COMPONENTS = 20
const MAX_LANGUAGE = 20
/** More than a name may have, so that POST /templates/check tells the limit. */
const MAX_NAME = 4_096

const Part = Type.Object({}, { additionalProperties: true })

const Components = Type.Array(Part, {
  maxItems: MAX_COMPONENTS,
  description:
    'As WhatsApp takes them (docs/upstream-templates.md). In `example.header_handle`, the address of a file may stand in place of a handle: Parley fetches it and uploads it.',
})

const Category = Type.String({ maxLength: MAX_LANGUAGE, description: `One of ${CATEGORIES.join(', ')}` })

const TimeToLive = Type.Integer({
  description: 'For how many seconds WhatsApp tries to deliver a message; −1 for 30 days',
})

/** The body of POST /templates. The rules of templates are in rules/check. */
export const NewTemplateBody = Type.Object({
  name: Maybe(
    Type.String({
      maxLength: MAX_NAME,
      description: 'Lower-case letters, digits and _. Required, except with `copy_of`.',
    }),
  ),
  language: RequiredText(MAX_LANGUAGE, 'A code of WhatsApp, such as pt_BR'),
  category: Maybe(Category),
  parameter_format: Maybe(Type.Enum(['NAMED', 'POSITIONAL'], { description: 'By default that of the variables' })),
  components: Maybe(Components),
  message_send_ttl_seconds: Maybe(TimeToLive),
  copy_of: Maybe(
    Type.Object(
      { name: RequiredText(TEMPLATE_LIMITS.name), language: RequiredText(MAX_LANGUAGE) },
      { description: 'A template whose name, category and components are taken where the body gives none' },
    ),
  ),
  library_template_name: Maybe(
    Type.String({ maxLength: TEMPLATE_LIMITS.name, description: "A template of WhatsApp's library" }),
  ),
  library_template_button_inputs: Maybe(
    Type.Array(Part, {
      maxItems: TEMPLATE_LIMITS.buttons,
      description:
        'For each button of the library: `{type, url: {base_url, url_suffix_example}}` or `{type, phone_number}`',
    }),
  ),
  library_template_body_inputs: Maybe(Part),
})
export type NewTemplate = Static<typeof NewTemplateBody>

/** What names a template to be edited or deleted. */
export const TemplateKey = {
  name: Type.String({ minLength: 1, maxLength: TEMPLATE_LIMITS.name }),
  language: Type.String({ minLength: 1, maxLength: MAX_LANGUAGE }),
}

/** The body of PATCH /templates. */
export const TemplateEditBody = Type.Object({
  components: Maybe(Components),
  category: Maybe(Category),
  message_send_ttl_seconds: Maybe(TimeToLive),
})
export type TemplateEdit = Static<typeof TemplateEditBody>
