import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { TEMPLATE_LANGUAGES } from '../../src/upstream/template-limits.js'
import { invalidField, missingField, type Problem } from '../control/problems.js'
import { readComponents } from './components.js'
import { isNamedVariable, variablesOf } from './variables.js'

/** A template as the upstream lists it, without its id. */
export interface Template {
  name: string
  language: string
  status: string
  category: string
  parameter_format: 'NAMED' | 'POSITIONAL'
  /** Types are in upper case; unknown parts stay unchanged. */
  components: JsonObject[]
  /** `NONE`, or why it was rejected. */
  rejected_reason: string
  /** Absent until it has been sent. */
  quality_score?: { score: string; date: number }
  /** The template of the library that it was created from. */
  library_template_name?: string
}

/** The statuses of a template; only an APPROVED one can be sent. */
export const templateStatuses = [
  ...['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL', 'PENDING_DELETION', 'DELETED'],
  ...['LIMIT_EXCEEDED', 'ARCHIVED'],
]

export const categories = ['MARKETING', 'UTILITY', 'AUTHENTICATION']
const formats = ['NAMED', 'POSITIONAL'] as const

/**
 * Reads the template of a control body. The default status is APPROVED; the default format is that of the variables.
 */
export function readTemplate(given: unknown): Template | Problem {
  if (given === undefined) return missingField('template')
  if (!isJsonObject(given)) return invalidField('template must be an object')
  const complaint = complaintAbout(given)
  if (complaint) return invalidField(complaint)
  const components = readComponents(given.components)
  if (typeof components === 'string') return invalidField(components)
  const format = readFormat(given.parameter_format, components)
  if (typeof format !== 'string') return format
  return {
    name: String(given.name),
    language: String(given.language),
    status: String(given.status ?? 'APPROVED'),
    category: String(given.category),
    parameter_format: format,
    components,
    rejected_reason: 'NONE',
  }
}

/** What is wrong with what a template is known by, or null. */
export function complaintAboutKey({ name, language, category }: JsonObject): string | null {
  return complaintAbout({ name, language, category })
}

function complaintAbout({ name, language, category, status = 'APPROVED' }: JsonObject): string | null {
  if (!matches(name, /^[a-z0-9_]{1,512}$/)) {
    return 'template.name must be 1 to 512 lower-case letters, digits and _'
  }
  if (!isOneOf(language, TEMPLATE_LANGUAGES)) {
    return `template.language must be one of the languages for templates, such as pt_BR or en, not ${JSON.stringify(language)}`
  }
  if (!isOneOf(category, categories)) return `template.category must be one of ${categories.join(', ')}`
  if (!isOneOf(status, templateStatuses)) return `template.status must be one of ${templateStatuses.join(', ')}`
  return null
}

/** The format of the variables, by default that of the given ones; or the problem. */
export function readFormat(given: unknown, components: JsonObject[]): Template['parameter_format'] | Problem {
  const variables = components.flatMap(({ type, text }) =>
    type === 'BODY' || type === 'HEADER' ? variablesOf(text) : [],
  )
  const wanted = given ?? (variables.some(isNamedVariable) ? 'NAMED' : 'POSITIONAL')
  const format = formats.find((known) => known === wanted)
  if (!format) return invalidField(`template.parameter_format must be one of ${formats.join(', ')}`)
  const mismatch = variables.find((variable) => isNamedVariable(variable) !== (format === 'NAMED'))
  if (mismatch === undefined) return format
  return invalidField(`{{${mismatch}}} is not a variable of a template that is ${format}`)
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

function isOneOf(value: unknown, words: readonly string[]): boolean {
  return typeof value === 'string' && words.includes(value)
}
