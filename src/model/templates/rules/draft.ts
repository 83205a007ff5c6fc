import { asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { inferParameterFormat, type Template } from '../template.js'

/** The categories that a template can be created in. */
export const CATEGORIES = ['AUTHENTICATION', 'MARKETING', 'UTILITY'] as const

/** A template that is to be created or edited, as it was given. Components are untrusted. */
export interface TemplateDraft {
  name: string
  language: string
  category: string
  parameter_format: Template['parameter_format']
  components: JsonObject[]
  message_send_ttl_seconds: number | null
}

/** The same as a body gives it; types and formats in any case. */
export interface GivenDraft {
  name: string
  language: string
  category: string
  parameter_format?: string | null | undefined
  components: readonly unknown[]
  message_send_ttl_seconds?: number | null | undefined
}

/** Reads a draft: words of the upstream in upper case, the format of the variables inferred if it is not given. */
export function readDraft(given: GivenDraft): TemplateDraft {
  const components = given.components.filter(isJsonObject).map(withUpperTypes)
  const format = given.parameter_format?.toUpperCase()
  return {
    name: given.name,
    language: given.language,
    category: given.category.toUpperCase(),
    parameter_format: format === 'NAMED' || format === 'POSITIONAL' ? format : inferParameterFormat(components),
    components,
    message_send_ttl_seconds: given.message_send_ttl_seconds ?? null,
  }
}

/** Types and formats may be given in lower case. */
function withUpperTypes(part: JsonObject): JsonObject {
  const upper = (name: string) => (asText(part[name]) === null ? {} : { [name]: String(part[name]).toUpperCase() })
  const parts = (name: string) =>
    Array.isArray(part[name])
      ? { [name]: (part[name] as unknown[]).map((one) => (isJsonObject(one) ? withUpperTypes(one) : one)) }
      : {}
  return {
    ...part,
    ...upper('type'),
    ...upper('format'),
    ...parts('buttons'),
    ...parts('cards'),
    ...parts('components'),
  }
}
