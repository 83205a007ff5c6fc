import { asObjects, type JsonObject } from '../../src/lib/text/json.js'
import type { Template } from './template.js'
import { variablesOf } from './variables.js'

/** What a send of a template must bring along. */
export interface TemplateRequirements {
  isNamed: boolean
  header: {
    /** `TEXT`, `IMAGE` and the like; null without a header. */
    format: string | null
    variables: string[]
  }
  body: { variables: string[] }
  /** All buttons in their order. */
  buttons: ButtonRequirements[]
}

export interface ButtonRequirements {
  /** `URL`, `QUICK_REPLY` and the like. */
  type: string
  needsParameter: boolean
}

/** Works out what a template asks for; once per template, since there are many sends of each. */
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
  // That a code must come along is assumed: without one there is nothing to copy.
  return { type: String(type), needsParameter: type === 'COPY_CODE' || variablesOf(url).length > 0 }
}
