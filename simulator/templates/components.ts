import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import { TEMPLATE_LIMITS } from '../../src/upstream/template-limits.js'
import { isFilled, isLonger } from '../sending/content/checks.js'
import { variablesOf } from './variables.js'

const {
  body: maxBodyLength,
  header: maxHeaderLength,
  footer: maxFooterLength,
  buttons: maxButtons,
  button: maxButtonLength,
  url: maxUrlLength,
} = TEMPLATE_LIMITS

/** Checks one component of a kind; returns the problem, or null. */
type Check = (component: JsonObject) => string | null

const checks: Record<string, Check> = {
  HEADER: checkHeader,
  BODY: ({ text }) => complaintAboutText(text, 'the text of the BODY', maxBodyLength),
  FOOTER: ({ text }) => complaintAboutText(text, 'the text of the FOOTER', maxFooterLength),
  BUTTONS: checkButtons,
}

/**
 * Returns the components of a template with their types in upper case, or the problem. Unknown kinds stay unchanged.
 */
export function readComponents(given: unknown): JsonObject[] | string {
  const components = readParts(given)
  if (typeof components === 'string') return components
  for (const component of components) {
    const type = String(component.type)
    const complaint = Object.hasOwn(checks, type) ? checks[type]?.(component) : null
    if (complaint) return `template.components: ${complaint}`
  }
  return components
}

/** The same without the content of the components, which has other rules in authentication templates. */
export function readParts(given: unknown): JsonObject[] | string {
  if (!Array.isArray(given) || !given.every(hasType)) {
    return 'template.components must be an array of objects, each with a type'
  }
  const components = given.map(withUpperTypes)
  const types = components.map(({ type }) => String(type))
  const twice = types.find((type, index) => types.indexOf(type) !== index)
  if (twice !== undefined) return `template.components may hold one ${twice} only`
  return types.includes('BODY') ? components : 'template.components must hold a BODY'
}

function hasType(value: unknown): value is JsonObject {
  return isJsonObject(value) && isFilled(value.type)
}

/** Templates may be created with types in lower case; the upstream lists them in upper case. */
function withUpperTypes(component: JsonObject): JsonObject {
  const { type, format, buttons, cards } = component
  const upperTyped = (parts: unknown[]) => parts.map((one) => (hasType(one) ? withUpperTypes(one) : one))
  return {
    ...component,
    type: String(type).toUpperCase(),
    ...(typeof format === 'string' ? { format: format.toUpperCase() } : {}),
    ...(Array.isArray(buttons) ? { buttons: upperTyped(buttons) } : {}),
    ...(Array.isArray(cards) ? { cards: cards.map((card) => withUpperParts(card, upperTyped)) } : {}),
  }
}

function withUpperParts(card: unknown, upperTyped: (parts: unknown[]) => unknown[]): unknown {
  if (!isJsonObject(card) || !Array.isArray(card.components)) return card
  return { ...card, components: upperTyped(card.components) }
}

function checkHeader({ format, text }: JsonObject): string | null {
  if (!isFilled(format)) return 'the HEADER must have a format'
  if (format !== 'TEXT') return null
  if (variablesOf(text).length > 1) return 'the text of the HEADER may have one variable'
  return complaintAboutText(text, 'the text of the HEADER', maxHeaderLength)
}

function checkButtons({ buttons }: JsonObject): string | null {
  if (!Array.isArray(buttons) || buttons.length < 1 || buttons.length > maxButtons || !buttons.every(hasType)) {
    return `BUTTONS must have 1 to ${maxButtons} buttons, each with a type`
  }
  for (const { type, text, url } of buttons) {
    const labelled = type === 'URL' || type === 'QUICK_REPLY' || type === 'PHONE_NUMBER'
    const complaint = labelled ? complaintAboutText(text, `the text of a ${type} button`, maxButtonLength) : null
    if (complaint) return complaint
    if (type === 'URL' && !isButtonUrl(url)) {
      return `the url of a button must be at most ${maxUrlLength} characters long, and end in {{1}} where it has a variable`
    }
  }
  return null
}

/** The single variable of a URL is always numbered, even if the others have names. */
function isButtonUrl(url: unknown): boolean {
  if (!isFilled(url) || isLonger(url, maxUrlLength)) return false
  return /^https?:\/\/[^{}]+(\{\{1\}\})?$/.test(url)
}

function complaintAboutText(text: unknown, name: string, max: number): string | null {
  if (isFilled(text) && !isLonger(text, max)) return null
  return `${name} must be a string of 1 to ${max} characters`
}
