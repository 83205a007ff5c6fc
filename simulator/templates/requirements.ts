import { asObject, asObjects, type JsonObject } from '../../src/lib/text/json.js'
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
  /** The components that a send must have whether they have variables or not, named as those of the template. */
  always: string[]
  /** Whether it has a limited-time offer, whose code is short. */
  hasOffer: boolean
  /** All buttons, in order. */
  buttons: ButtonRequirements[]
  /** The cards of its carousel, in order. */
  cards: TemplateRequirements[]
}

export interface ButtonRequirements {
  /** `URL`, `QUICK_REPLY` or similar. */
  type: string
  /** Whether a send must have its component, with or without a parameter. */
  isRequired: boolean
}

const alwaysButtons = ['OTP', 'COPY_CODE', 'FLOW', 'MPM', 'ORDER_DETAILS']

/** Derives the requirements of a template. Done once per template, because each is sent many times. */
export function requirementsOf({ components, parameter_format: format }: Template): TemplateRequirements {
  return requirementsOfParts(components, format)
}

function requirementsOfParts(components: JsonObject[], format: Template['parameter_format']): TemplateRequirements {
  const component = (type: string): JsonObject => components.find((one) => one.type === type) ?? {}
  const header = component('HEADER')
  return {
    isNamed: format === 'NAMED',
    header: {
      format: typeof header.format === 'string' ? header.format : null,
      variables: variablesOf(header.text),
    },
    body: { variables: variablesOf(component('BODY').text) },
    always: [
      ...(components.some(({ type }) => type === 'CAROUSEL') ? ['CAROUSEL'] : []),
      ...(hasExpiration(component('LIMITED_TIME_OFFER')) ? ['LIMITED_TIME_OFFER'] : []),
    ],
    hasOffer: components.some(({ type }) => type === 'LIMITED_TIME_OFFER'),
    buttons: asObjects(component('BUTTONS').buttons).map(buttonRequirements),
    cards: asObjects(component('CAROUSEL').cards).map((card) =>
      requirementsOfParts(asObjects(card.components), format),
    ),
  }
}

function hasExpiration({ limited_time_offer: offer }: JsonObject): boolean {
  return asObject(offer).has_expiration === true
}

function buttonRequirements({ type, url }: JsonObject): ButtonRequirements {
  // Of those that are always required, only FLOW is reported to be; the others would have nothing to show.
  return { type: String(type), isRequired: alwaysButtons.includes(String(type)) || variablesOf(url).length > 0 }
}
