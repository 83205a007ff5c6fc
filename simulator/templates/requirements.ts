import { asObjects, type JsonObject } from '../../src/lib/text/json.js'
import type { Template } from './template.js'
import { variablesOf } from './variables.js'

/** What a send of a template must contain. */
export interface TemplateRequirements {
  isNamed: boolean
  header: {
    /** `TEXT`, `IMAGE` or similar; null without a header. */
    format: string | null
    variables: string[]
  }
  body: { variables: string[] }
  /** All buttons, in order. */
  buttons: ButtonRequirements[]
}

export interface ButtonRequirements {
  /** `URL`, `QUICK_REPLY` or similar. */
  type: string
  needsParameter: boolean
}

/** Derives the requirements of a template. Done once per template, because each is sent many times. */
export function requirementsOf({ components, parameter_format: format }: Template): TemplateRequirements {
  const component = (type: string): JsonObject => components.find((one) => one.type === type) ?? {}
  const header = component('HEADER')
  return {
    isNamed: format === 'NAMED',
    header: {
      format: typeof header.format === 'string' ? header.format : null,
      variables: variablesOf(header.text),
    },
    body: { variables: variablesOf(component('BODY').text) },
    buttons: asObjects(component('BUTTONS').buttons).map(buttonRequirements),
  }
}

function buttonRequirements({ type, url }: JsonObject): ButtonRequirements {
  // It is an assumption that a code is required: without one there is nothing to copy.
  return { type: String(type), needsParameter: type === 'COPY_CODE' || variablesOf(url).length > 0 }
}
