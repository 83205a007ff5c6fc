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
  /** The components that a send must have whether they have variables or not. */
  always: string[]
  /** All buttons, in order. */
  buttons: ButtonRequirements[]
}

export interface ButtonRequirements {
  /** `URL`, `QUICK_REPLY` or similar. */
  type: string
  /** Whether a send must have its component, with or without a parameter. */
  isRequired: boolean
}

/** Named after the component of a send in lower case. */
const always = ['CAROUSEL', 'LIMITED_TIME_OFFER']
const alwaysButtons = ['OTP', 'COPY_CODE', 'FLOW', 'MPM', 'ORDER_DETAILS']

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
    always: always.filter((type) => components.some((one) => one.type === type)),
    buttons: asObjects(component('BUTTONS').buttons).map(buttonRequirements),
  }
}

function buttonRequirements({ type, url }: JsonObject): ButtonRequirements {
  // Of those that are always required, only FLOW is reported to be; the others would have nothing to show.
  return { type: String(type), isRequired: alwaysButtons.includes(String(type)) || variablesOf(url).length > 0 }
}
