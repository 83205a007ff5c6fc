import { asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import type { Template } from '../template.js'
import { fault, type TemplateFault } from './faults.js'

/** A text with variables, where it is, and the examples that are given for them. */
export interface ExampleText {
  /** The path of its component. */
  path: string
  text: string
  example: JsonObject
  /** The field of `example` with the values; of named variables its name is longer. */
  field: 'header_text' | 'body_text'
}

type Format = Template['parameter_format']

const BRACES = /\{\{([^{}]*)\}\}/g
const NAME: Record<Format, RegExp> = { POSITIONAL: /^[1-9]\d{0,3}$/, NAMED: /^[a-z][a-z0-9_]{0,99}$/ }
const SAMPLE: Record<Format, string> = { POSITIONAL: '{{1}}', NAMED: '{{first_name}}' }

/** The names between the braces of a text, each once, in order. */
export function namesIn(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(BRACES), ([, name = '']) => name))]
}

/** The faults of the variables of a text, and of their examples. */
export function checkVariables(given: ExampleText, format: Format): TemplateFault[] {
  const { path, text } = given
  const names = namesIn(text)
  const isStrange = (name: string) => !NAME[format].test(name)
  const strange = names.find(isStrange)
  if (strange !== undefined)
    return [fault(`${path}.text`, 'variable', { given: inBraces(strange), example: SAMPLE[format] })]
  if (/\{\{|\}\}/.test(text.replace(BRACES, ''))) {
    return [fault(`${path}.text`, 'variable_braces', { example: SAMPLE[format] })]
  }
  const unordered = names.find((name, index) => format === 'POSITIONAL' && name !== String(index + 1))
  if (unordered !== undefined) return [fault(`${path}.text`, 'variable_order', { given: inBraces(unordered) })]
  return checkExamples(given, format, names)
}

/** The fault of a text that may have no variables. */
export function checkNoVariables(field: string, text: string): TemplateFault[] {
  const [name] = namesIn(text)
  return name === undefined ? [] : [fault(field, 'no_variables', { given: inBraces(name) })]
}

function checkExamples({ path, example, field }: ExampleText, format: Format, names: string[]): TemplateFault[] {
  const isNamed = format === 'NAMED'
  const known = isNamed ? namesWithExample(example[`${field}_named_params`]) : numbersWithExample(example[field])
  const missing = names.find((name) => !known.includes(name))
  const place = `${path}.example.${isNamed ? `${field}_named_params` : field}`
  return missing === undefined ? [] : [fault(place, 'example', { given: inBraces(missing) })]
}

function namesWithExample(params: unknown): string[] {
  return asObjects(params).flatMap(({ param_name: name, example }) =>
    asText(name) !== null && asText(example) !== null ? [String(name)] : [],
  )
}

/** The upstream takes a list of values, and a list with that list. */
function numbersWithExample(values: unknown): string[] {
  const given: unknown[] = Array.isArray(values) ? values : []
  const list: unknown[] = Array.isArray(given[0]) ? given[0] : given
  return list.flatMap((value, index) => (asText(value) === null ? [] : [String(index + 1)]))
}

/** A variable as it is written. */
export function inBraces(name: string): string {
  return `{{${name}}}`
}
