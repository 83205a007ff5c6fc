import { asObjects, type JsonObject } from '../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../src/upstream/limits.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { checkOptionalText, firstRefusal } from '../sending/content/checks.js'
import { formatMismatch } from '../sending/content/template-parameters.js'
import type { ButtonRequirements, TemplateRequirements } from './requirements.js'

const mediaFormats = ['IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION', 'PRODUCT']
const textTypes = ['text', 'currency', 'date_time']
/** Buttons without whose component a send has a wrong value; of the others it lacks a parameter. */
const emptyButtons = ['FLOW', 'MPM', 'ORDER_DETAILS']

/**
 * Refuses a send of a template that the number's account does not have, that cannot be sent now, or that needs other
 * parameters. The form of the send was checked before. A number that is not registered has no account, and is not
 * checked.
 */
export function checkFit(context: Context, phoneNumberId: string, template: JsonObject): Refusal | null {
  const number = context.numbers.get(phoneNumberId)
  if (!number) return null
  const name = String(template.name)
  const language = String((template.language as JsonObject).code)
  const known = context.templates.find(number.business_account_id, name, language)
  if (!known) return context.settings.templates === 'any' ? null : refusals.unknownTemplate(name, language)
  return checkStatus(known.template.status, name, language) ?? checkComponents(template.components, known.requirements)
}

/** Refuses a template for authentication to a person without a phone number. */
export function checkRecipient(
  context: Context,
  phoneNumberId: string,
  { name, language }: JsonObject,
): Refusal | null {
  const number = context.numbers.get(phoneNumberId)
  const code = String((language as JsonObject).code)
  const known = number && context.templates.find(number.business_account_id, String(name), code)
  return known?.template.category === 'AUTHENTICATION' ? refusals.needsNumber() : null
}

function checkStatus(status: string, name: string, language: string): Refusal | null {
  if (status === 'APPROVED') return null
  if (status === 'PAUSED') return refusals.pausedTemplate()
  return status === 'DISABLED' ? refusals.disabledTemplate() : refusals.unknownTemplate(name, language)
}

function checkComponents(given: unknown, requirements: TemplateRequirements): Refusal | null {
  const components = asObjects(given)
  const buttons = components.filter(({ type }) => type === 'button')
  return (
    checkHeader(parametersOf(components, 'header'), requirements) ??
    checkVariables('body', parametersOf(components, 'body'), requirements.body.variables, requirements.isNamed) ??
    firstRefusal(requirements.always, (type) => checkComponent(components, type)) ??
    firstRefusal(requirements.buttons, (requirement, index) => checkPresence(buttons, requirement, index)) ??
    firstRefusal(buttons, (button) => checkButton(button, requirements.buttons)) ??
    (requirements.hasOffer ? firstRefusal(buttons, checkOfferCode) : null) ??
    checkOnce(components) ??
    checkCards(components, requirements.cards)
  )
}

/** The codes are assumptions: another number of cards is a wrong count, and a card is checked as a template is. */
function checkCards(components: JsonObject[], cards: TemplateRequirements[]): Refusal | null {
  const carousel = components.find(({ type }) => type === 'carousel')
  if (carousel === undefined) return null
  const given = asObjects(carousel.cards)
  if (given.length !== cards.length) return wrongCount('carousel', given.length, cards.length)
  return firstRefusal(cards, (requirements, index) => checkComponents(given[index]?.components, requirements))
}

/** An assumption: two components for one part of a template. */
function checkOnce(components: JsonObject[]): Refusal | null {
  const names = components.map(({ type, index }) =>
    type === 'button' ? `button at index ${Number(index)}` : String(type),
  )
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  return twice === undefined ? null : refusals.invalidValue(`components: There are two of the ${twice}`)
}

function checkComponent(components: JsonObject[], type: string): Refusal | null {
  if (components.some((component) => component.type === type.toLowerCase())) return null
  return refusals.invalidValue(`components: The component of the ${spelled(type)} is missing`)
}

function parametersOf(components: JsonObject[], type: string): JsonObject[] {
  return components.filter((component) => component.type === type).flatMap(({ parameters }) => asObjects(parameters))
}

function checkHeader(given: JsonObject[], { header, isNamed }: TemplateRequirements): Refusal | null {
  const { format, variables } = header
  if (format === null || format === 'TEXT') return checkVariables('header', given, variables, isNamed)
  if (!mediaFormats.includes(format)) return null
  const [first, ...more] = given.map(({ type }) => String(type))
  if (first?.toUpperCase() !== format) return formatMismatch('header', format, first)
  return more.length === 0 ? null : wrongCount('header', given.length, 1)
}

function checkVariables(path: string, given: JsonObject[], variables: string[], isNamed: boolean): Refusal | null {
  if (given.length !== variables.length) return wrongCount(path, given.length, variables.length)
  const other = given.find(({ type }) => !textTypes.includes(String(type)))
  if (other) return formatMismatch(path, 'text', String(other.type))
  return isNamed ? checkNames(path, given, variables) : checkNoNames(path, given)
}

/** The code is an assumption: the upstream does not document its error for a missing name. */
function checkNames(path: string, given: JsonObject[], variables: string[]): Refusal | null {
  const missing = variables.find((variable) => !given.some(({ parameter_name: name }) => name === variable))
  return missing === undefined ? null : refusals.parameterFormat(`${path}: parameter_name ${missing} is missing`)
}

/** An assumption too: the upstream documents names for named templates only. */
function checkNoNames(path: string, given: JsonObject[]): Refusal | null {
  const named = given.find(({ parameter_name: name }) => name !== undefined)
  if (!named) return null
  return refusals.parameterFormat(`${path}: parameter_name ${named.parameter_name} is not one of a positional template`)
}

function wrongCount(path: string, given: number, expected: number): Refusal {
  return refusals.parameterCount(
    `${path}: number of localizable_params (${given}) does not match the expected number of params (${expected})`,
  )
}

function checkPresence(buttons: JsonObject[], { type, isRequired }: ButtonRequirements, index: number): Refusal | null {
  if (!isRequired || buttons.some((button) => Number(button.index) === index)) return null
  if (emptyButtons.includes(type)) {
    return refusals.invalidValue(
      `buttons: The component of the button at index ${index} of type ${spelled(type)} is missing`,
    )
  }
  return refusals.missing(`buttons: Button at index ${index} of type ${spelled(type)} requires a parameter`)
}

/**
 * The codes are assumptions based on their meaning: another kind of button is a wrong format, a surplus parameter a
 * wrong count.
 */
function checkButton({ sub_type: kind, index }: JsonObject, requirements: ButtonRequirements[]): Refusal | null {
  const button = requirements[Number(index)]
  if (!button) return refusals.parameterFormat(`buttons: There is no button at index ${index}`)
  const expected = button.type === 'OTP' ? 'url' : button.type.toLowerCase()
  if (String(kind).toLowerCase() !== expected) {
    return refusals.parameterFormat(`buttons: Button at index ${index} is of type ${spelled(button.type)}`)
  }
  if (button.type !== 'URL' || button.isRequired) return null
  return refusals.parameterCount(`buttons: Button at index ${index} of type Url does not require parameters`)
}

function checkOfferCode({ sub_type: kind, parameters }: JsonObject): Refusal | null {
  if (String(kind).toLowerCase() !== 'copy_code') return null
  const [parameter] = asObjects(parameters)
  return checkOptionalText(parameter?.coupon_code, "['coupon_code']", UPSTREAM_LIMITS.offerCode)
}

/** Converts `QUICK_REPLY` to the form in the upstream's errors, `QuickReply`. */
function spelled(type: string): string {
  return type
    .split('_')
    .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('')
}
