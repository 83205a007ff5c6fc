import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkRequiredText, firstRefusal, isFilled, type KindOfUpload } from './checks.js'
import { checkLocation } from './location.js'
import { checkReference } from './media.js'

const maxCouponLength = 20
/** New lines, tabs, and more than four spaces in a row. */
const forbiddenSpace = /[\n\r\t]| {5}/

type Check = (parameter: JsonObject, place: string, kindOfUpload: KindOfUpload) => Refusal | null

const checks: Record<string, Check> = {
  text: checkText,
  currency: ({ currency }, place) => checkFallback(currency, `${place}['currency']`),
  date_time: ({ date_time: moment }, place) => checkFallback(moment, `${place}['date_time']`),
  image: mediaCheck('image'),
  video: mediaCheck('video'),
  document: mediaCheck('document'),
  location: checkLocation,
  payload: ({ payload }, place) => checkRequiredText(payload, `${place}['payload']`),
  coupon_code: ({ coupon_code: code }, place) => checkRequiredText(code, `${place}['coupon_code']`, maxCouponLength),
}

/** Checks each parameter of a component. `place` is the upstream's name of the component. */
export function checkParameters(parameters: unknown, place: string, kindOfUpload: KindOfUpload): Refusal | null {
  if (!Array.isArray(parameters)) return refusals.invalidParameter(`Param ${place} must be an array.`)
  return firstRefusal(parameters, (parameter, index) => checkParameter(parameter, `${place}[${index}]`, kindOfUpload))
}

function checkParameter(parameter: unknown, place: string, kindOfUpload: KindOfUpload): Refusal | null {
  if (!isJsonObject(parameter) || !isFilled(parameter.type)) {
    return refusals.invalidParameter(`The parameter ${place}['type'] is required.`)
  }
  const { type, parameter_name: name } = parameter
  const check = Object.hasOwn(checks, type) ? checks[type] : undefined
  if (!check) {
    const accepted = Object.keys(checks).join(', ').toUpperCase()
    return refusals.invalidParameter(`Param ${place}['type'] must be one of {${accepted}} - got "${type}".`)
  }
  if (name !== undefined && !isFilled(name)) {
    return refusals.invalidParameter(`Param ${place}['parameter_name'] must be a string that is not empty.`)
  }
  return check(parameter, place, kindOfUpload)
}

function checkText({ text }: JsonObject, place: string): Refusal | null {
  const refusal = checkRequiredText(text, `${place}['text']`)
  if (refusal || !forbiddenSpace.test(String(text))) return refusal
  return refusals.invalidParameter('Param text cannot have new-line/tab characters or more than 4 consecutive spaces')
}

function checkFallback(value: unknown, place: string): Refusal | null {
  if (!isJsonObject(value)) return refusals.missing(`${place} is required`)
  return checkRequiredText(value.fallback_value, `${place}['fallback_value']`)
}

/** Unlike in a media message, a missing upload is reported as a format error here. */
function mediaCheck(kind: 'image' | 'video' | 'document'): Check {
  return (parameter, place, kindOfUpload) => {
    const media = parameter[kind]
    const id = isJsonObject(media) && isFilled(media.id) && media.link === undefined ? media.id : null
    if (id === null) return checkReference(media, kind, `${place}['${kind}']`, kindOfUpload)
    const uploaded = kindOfUpload(id)
    return uploaded === kind ? null : formatMismatch('header', kind, uploaded)
  }
}

/** Refuses a parameter of another kind than the template has. */
export function formatMismatch(place: string, expected: string, received: string | null | undefined): Refusal {
  const got = (received ?? 'unknown').toUpperCase()
  return refusals.parameterFormat(`${place}: Format mismatch, expected ${expected.toUpperCase()}, received ${got}`)
}
