import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { firstRefusal, isFilled, type KindOfUpload } from './checks.js'
import { checkParameters } from './template-parameters.js'

const componentTypes = ['header', 'body', 'button']

/** The kinds of buttons in a send; those that are pressed as they are (`PHONE_NUMBER`) have none. */
const buttonKinds = [
  ...['booking_confirmation', 'catalog', 'copy_code', 'flow', 'mpm', 'order_details', 'quick_reply', 'reminder'],
  ...['url', 'voice_call'],
]

/** The parameter of a button's component, by kind of button. Those of other kinds may be left out. */
const buttonParameters: Record<string, string> = { url: 'text', quick_reply: 'payload', copy_code: 'coupon_code' }

/** Checks the form only; `checkFit` compares it with the template. */
export function checkTemplate({ template }: JsonObject, kindOfUpload: KindOfUpload): Refusal | null {
  if (!isJsonObject(template)) return required("template['name']")
  const { name, language, components = [] } = template
  if (!isFilled(name)) return required("template['name']")
  if (!isJsonObject(language)) return required("template['language']")
  if (!isFilled(language.code)) return required("template['language']['code']")
  if (!Array.isArray(components)) return refusals.invalidParameter("Param template['components'] must be an array.")
  return firstRefusal(components, (component, index) =>
    checkComponent(component, `template['components'][${index}]`, kindOfUpload),
  )
}

function checkComponent(component: unknown, path: string, kindOfUpload: KindOfUpload): Refusal | null {
  if (!isJsonObject(component) || !isFilled(component.type)) return required(`${path}['type']`)
  const { type, parameters = [] } = component
  if (!componentTypes.includes(type)) {
    const accepted = componentTypes.join(', ').toUpperCase()
    return refusals.invalidParameter(`Param ${path}['type'] must be one of {${accepted}} - got "${type}".`)
  }
  return (
    checkParameters(parameters, `${path}['parameters']`, kindOfUpload) ??
    (type === 'button' ? checkButton(component, path) : null)
  )
}

function checkButton({ sub_type: kind, index, parameters = [] }: JsonObject, path: string): Refusal | null {
  if (!isFilled(kind)) return required(`${path}['sub_type']`)
  if (index === undefined) return required(`${path}['index']`)
  if ((typeof index !== 'number' && typeof index !== 'string') || !/^\d{1,2}$/.test(String(index))) {
    return refusals.invalidParameter(`Param ${path}['index'] must be an integer.`)
  }
  if (!buttonKinds.includes(kind.toLowerCase())) {
    const accepted = buttonKinds.join(', ').toUpperCase()
    return refusals.invalidParameter(`Param ${path}['sub_type'] must be one of {${accepted}} - got "${kind}".`)
  }
  const expected = Object.hasOwn(buttonParameters, kind) ? buttonParameters[kind] : undefined
  const given = parameters as JsonObject[]
  if (expected === undefined || (given.length === 1 && given[0]?.type === expected)) return null
  return refusals.invalidParameter(`Param ${path}['parameters'] must hold one parameter of type ${expected}.`)
}

function required(path: string): Refusal {
  return refusals.invalidParameter(`The parameter ${path} is required.`)
}
