import { asObject, isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkRequiredText, firstRefusal, isFilled, type KindOfUpload } from './checks.js'
import { checkProductSections } from './products.js'
import { checkParameters } from './template-parameters.js'

const cardTypes = ['header', 'body', 'button']
const componentTypes = [...cardTypes, 'limited_time_offer', 'carousel']
const { most: maxCards } = UPSTREAM_LIMITS.carousel

/** The kinds of buttons in a send; those that are pressed as they are (`PHONE_NUMBER`) have none. */
const buttonKinds = [
  ...['booking_confirmation', 'catalog', 'copy_code', 'flow', 'mpm', 'order_details', 'quick_reply', 'reminder'],
  ...['url', 'voice_call'],
]

/** The parameter of a button's component, by kind of button. Those of other kinds may be left out. */
const buttonParameters: Record<string, string> = {
  url: 'text',
  quick_reply: 'payload',
  copy_code: 'coupon_code',
  mpm: 'action',
}

/** Checks the form only; `checkFit` compares it with the template. */
export function checkTemplate({ template }: JsonObject, kindOfUpload: KindOfUpload): Refusal | null {
  if (!isJsonObject(template)) return required("template['name']")
  const { name, language, components = [] } = template
  if (!isFilled(name)) return required("template['name']")
  if (!isJsonObject(language)) return required("template['language']")
  if (!isFilled(language.code)) return required("template['language']['code']")
  if (!Array.isArray(components)) return refusals.invalidParameter("Param template['components'] must be an array.")
  return checkComponents(components, "template['components']", componentTypes, kindOfUpload)
}

/** `types`: those that are accepted here; a card has fewer than a template. */
function checkComponents(
  components: unknown[],
  path: string,
  types: string[],
  kindOfUpload: KindOfUpload,
): Refusal | null {
  return firstRefusal(components, (component, index) => {
    const place = `${path}[${index}]`
    if (!isJsonObject(component) || !isFilled(component.type)) return required(`${place}['type']`)
    const { type } = component
    if (!types.includes(type)) {
      const accepted = types.join(', ').toUpperCase()
      return refusals.invalidParameter(`Param ${place}['type'] must be one of {${accepted}} - got "${type}".`)
    }
    return type === 'carousel'
      ? checkCards(component.cards, place, kindOfUpload)
      : checkComponent(component, place, kindOfUpload)
  })
}

function checkComponent(component: JsonObject, path: string, kindOfUpload: KindOfUpload): Refusal | null {
  const { type, parameters = [] } = component
  return (
    checkParameters(parameters, `${path}['parameters']`, kindOfUpload) ??
    (type === 'button' ? checkButton(component, path) : null) ??
    (type === 'limited_time_offer' ? checkOffer(parameters as JsonObject[], path) : null)
  )
}

function checkCards(cards: unknown, path: string, kindOfUpload: KindOfUpload): Refusal | null {
  if (!Array.isArray(cards) || cards.length < 1 || cards.length > maxCards) {
    return refusals.invalidParameter(`Param ${path}['cards'] must be an array of 1 to ${maxCards} cards.`)
  }
  return firstRefusal(cards, (card, index) => {
    const place = `${path}['cards'][${index}]`
    if (!isJsonObject(card)) return refusals.invalidParameter(`Param ${place} must be an object.`)
    if (card.card_index !== index) return refusals.invalidParameter(`Param ${place}['card_index'] must be ${index}.`)
    const { components = [] } = card
    if (!Array.isArray(components)) return refusals.invalidParameter(`Param ${place}['components'] must be an array.`)
    return checkComponents(components, `${place}['components']`, cardTypes, kindOfUpload)
  })
}

function checkOffer(parameters: JsonObject[], path: string): Refusal | null {
  if (parameters.length === 1 && parameters[0]?.type === 'limited_time_offer') return null
  return refusals.invalidParameter(`Param ${path}['parameters'] must hold one parameter of type limited_time_offer.`)
}

function checkButton({ sub_type: given, index, parameters = [] }: JsonObject, path: string): Refusal | null {
  if (!isFilled(given)) return required(`${path}['sub_type']`)
  if (index === undefined) return required(`${path}['index']`)
  if ((typeof index !== 'number' && typeof index !== 'string') || !/^\d{1,2}$/.test(String(index))) {
    return refusals.invalidParameter(`Param ${path}['index'] must be an integer.`)
  }
  const kind = given.toLowerCase()
  if (!buttonKinds.includes(kind)) {
    const accepted = buttonKinds.join(', ').toUpperCase()
    return refusals.invalidParameter(`Param ${path}['sub_type'] must be one of {${accepted}} - got "${given}".`)
  }
  const [parameter, ...more] = parameters as JsonObject[]
  const expected = Object.hasOwn(buttonParameters, kind) ? buttonParameters[kind] : undefined
  if (expected !== undefined && (parameter?.type !== expected || more.length > 0)) {
    return refusals.invalidParameter(`Param ${path}['parameters'] must hold one parameter of type ${expected}.`)
  }
  if (kind === 'mpm') return checkProductSections(asObject(parameter?.action).sections)
  if (kind !== 'catalog' || parameter === undefined) return null
  const { thumbnail_product_retailer_id: thumbnail } = asObject(parameter.action)
  return checkRequiredText(thumbnail, `${path}['parameters'][0]['action']['thumbnail_product_retailer_id']`)
}

function required(path: string): Refusal {
  return refusals.invalidParameter(`The parameter ${path} is required.`)
}
