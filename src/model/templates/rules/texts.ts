import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { TEMPLATE_LIMITS } from '../../../upstream/template-limits.js'
import type { TemplateDraft } from './draft.js'
import { checkLength, fault, type TemplateFault } from './faults.js'
import { checkNoVariables, checkVariables, namesIn } from './variables.js'

/** A component and its path. */
export interface Part {
  path: string
  component: JsonObject
}

const FILES = ['IMAGE', 'VIDEO', 'DOCUMENT']
const FORMATS = ['TEXT', ...FILES, 'LOCATION', 'PRODUCT']
const MAX_HANDLE = 4_096

/** The faults of a header. `formats`: the possible ones. */
export function checkHeader(
  { path, component }: Part,
  { parameter_format: format, category }: TemplateDraft,
  formats: readonly string[] = FORMATS,
): TemplateFault[] {
  const kind = asText(component.format) ?? ''
  const { text } = component
  if (!formats.includes(kind)) return [fault(`${path}.format`, 'one_of', { names: formats.join(', ') })]
  if (kind === 'PRODUCT' && category !== 'MARKETING') return [fault(`${path}.format`, 'not_in_category', { category })]
  if (kind === 'TEXT') {
    const wrong = checkLength(`${path}.text`, text, TEMPLATE_LIMITS.header)
    if (wrong.length > 0) return wrong
    const header = String(text)
    if (/[\r\n]/.test(header)) return [fault(`${path}.text`, 'one_line', {})]
    const variables = namesIn(header).length
    if (variables > 1) return [fault(`${path}.text`, 'variables_at_most', { limit: 1, given: variables })]
    return checkVariables({ path, text: header, example: asObject(component.example), field: 'header_text' }, format)
  }
  return FILES.includes(kind) ? checkHandle(`${path}.example.header_handle`, asObject(component.example)) : []
}

/** Of a header with a file: the handle of an example, or its address. */
function checkHandle(field: string, { header_handle: handles }: JsonObject): TemplateFault[] {
  const [handle, ...more] = Array.isArray(handles) ? (handles as unknown[]) : []
  if (asText(handle) === null || more.length > 0) return [fault(field, 'header_file', {})]
  return checkLength(`${field}[0]`, handle, MAX_HANDLE)
}

/** The faults of a body of at most `limit` characters. */
export function checkBody(
  { path, component }: Part,
  { parameter_format: format }: TemplateDraft,
  limit: number,
): TemplateFault[] {
  const field = `${path}.text`
  const wrong = checkLength(field, component.text, limit)
  if (wrong.length > 0) return wrong
  const text = String(component.text)
  const [edge] = /^\s*\{\{[^{}]*\}\}|\{\{[^{}]*\}\}\s*$/.exec(text) ?? []
  if (edge !== undefined) return [fault(field, 'variable_edge', { given: edge.trim() })]
  return checkVariables({ path, text, example: asObject(component.example), field: 'body_text' }, format)
}

/** The faults of a footer. */
export function checkFooter({ path, component }: Part): TemplateFault[] {
  const field = `${path}.text`
  const wrong = checkLength(field, component.text, TEMPLATE_LIMITS.footer)
  if (wrong.length > 0) return wrong
  const text = String(component.text)
  return /[\r\n]/.test(text) ? [fault(field, 'one_line', {})] : checkNoVariables(field, text)
}

/** The parts of a component's list, with their paths. */
export function partsOf(path: string, list: unknown): Part[] {
  return asObjects(list).map((component, index) => ({ path: `${path}[${index}]`, component }))
}
