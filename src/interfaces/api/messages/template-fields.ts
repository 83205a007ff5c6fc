import { Type } from 'typebox'
import { Nullable } from '../../../model/fields.js'
import { TEMPLATE_FIELDS } from '../../../model/messages/content.js'
import type { TemplateParameters } from '../../../model/templates/parameters.js'
import { readGivenFile, uploadedId } from './given-file.js'

export const headerMedia = Type.Optional(
  Nullable(
    Type.String({ minLength: 1, maxLength: 2_048, description: 'Publicly accessible URL of the file in the header' }),
  ),
)

export const headerMediaId = uploadedId('headerMedia')

export const language = Type.Optional(
  Nullable(
    Type.String({
      minLength: 1,
      maxLength: 20,
      description: "The template's language. By default the organization's language, or else the first approved one.",
    }),
  ),
)

type Given = Record<string, string> | null | undefined

/** What a body says of the template that is to be sent; what may be left out may be null as well. */
interface TemplateFields {
  templateName: string
  language?: string | null
  bodyParameters?: Given
  headerParameters?: Given
  buttonParameters?: Given
  headerMedia?: string | null
  headerMediaId?: string | null
}

/** The same as commands take it. Throws invalid_field. */
export function readTemplateFields(body: TemplateFields) {
  const parameters: TemplateParameters = {
    body: body.bodyParameters ?? {},
    header: body.headerParameters ?? {},
    buttons: body.buttonParameters ?? {},
  }
  const { templateName, language, headerMedia: url, headerMediaId: id } = body
  const headerMedia = readGivenFile({ url, id }, TEMPLATE_FIELDS)
  return { templateName, language: language ?? undefined, parameters, headerMedia }
}
