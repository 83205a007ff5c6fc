import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkRequiredText, firstRefusal, isFilled, type KindOfUpload } from './checks.js'
import { checkLocation } from './location.js'
import { checkReference } from './media.js'

const { coupon: maxCouponLength } = UPSTREAM_LIMITS
/** New lines, tabs, and more than four spaces in a row. */
const forbiddenSpace = /[\n\r\t]| {5}/

type Check = (parameter: JsonObject, path: string, kindOfUpload: KindOfUpload) => Refusal | null

const checks: Record<string, Check> = {
  text: checkText,
  currency: ({ currency }, path) => checkFallback(currency, `${path}['currency']`),
  date_time: ({ date_time: moment }, path) => checkFallback(moment, `${path}['date_time']`),
  image: mediaCheck('image'),
  video: mediaCheck('video'),
  document: mediaCheck('document'),
  location: checkLocation,
  payload: ({ payload }, path) => checkRequiredText(payload, `${path}['payload']`),
  action: ({ action }, path) => (isJsonObject(action) ? null : refusals.missing(`${path}['action'] is required`)),
  product: ({ product }, path) => checkProduct(product, path),
  limited_time_offer: ({ limited_time_offer: offer }, path) => checkOffer(offer, path),
  coupon_code: ({ coupon_code: code }, path) => checkRequiredText(code, `${path}['coupon_code']`, maxCouponLength),
}

/** Checks each parameter of a component. `path` is the upstream's name of the component. */
export function checkParameters(parameters: unknown, path: string, kindOfUpload: KindOfUpload): Refusal | null {
  if (!Array.isArray(parameters)) return refusals.invalidParameter(`Param ${path} must be an array.`)
  return firstRefusal(parameters, (parameter, index) => checkParameter(parameter, `${path}[${index}]`, kindOfUpload))
}

function checkParameter(parameter: unknown, path: string, kindOfUpload: KindOfUpload): Refusal | null {
  if (!isJsonObject(parameter) || !isFilled(parameter.type)) {
    return refusals.invalidParameter(`The parameter ${path}['type'] is required.`)
  }
  const { type, parameter_name: name } = parameter
  const check = Object.hasOwn(checks, type) ? checks[type] : undefined
  if (!check) {
    const accepted = Object.keys(checks).join(', ').toUpperCase()
    return refusals.invalidParameter(`Param ${path}['type'] must be one of {${accepted}} - got "${type}".`)
  }
  if (name !== undefined && !isFilled(name)) {
    return refusals.invalidParameter(`Param ${path}['parameter_name'] must be a string that is not empty.`)
  }
  return check(parameter, path, kindOfUpload)
}

function checkText({ text }: JsonObject, path: string): Refusal | null {
  const refusal = checkRequiredText(text, `${path}['text']`)
  if (refusal || !forbiddenSpace.test(String(text))) return refusal
  return refusals.invalidParameter('Param text cannot have new-line/tab characters or more than 4 consecutive spaces')
}

function checkProduct(product: unknown, path: string): Refusal | null {
  if (!isJsonObject(product)) return refusals.missing(`${path}['product'] is required`)
  return (
    checkRequiredText(product.product_retailer_id, `${path}['product']['product_retailer_id']`) ??
    checkRequiredText(product.catalog_id, `${path}['product']['catalog_id']`)
  )
}

function checkOffer(offer: unknown, path: string): Refusal | null {
  const end = isJsonObject(offer) ? offer.expiration_time_ms : undefined
  if (end === undefined) return refusals.missing(`${path}['limited_time_offer']['expiration_time_ms'] is required`)
  if (Number.isInteger(end) && Number(end) > 0) return null
  return refusals.invalidValue(`${path}['limited_time_offer']['expiration_time_ms'] must be a time in milliseconds`)
}

function checkFallback(value: unknown, path: string): Refusal | null {
  if (!isJsonObject(value)) return refusals.missing(`${path} is required`)
  return checkRequiredText(value.fallback_value, `${path}['fallback_value']`)
}

/** Unlike in a media message, a missing upload is reported as a format error here. */
function mediaCheck(kind: 'image' | 'video' | 'document'): Check {
  return (parameter, path, kindOfUpload) => {
    const media = parameter[kind]
    const id = isJsonObject(media) && isFilled(media.id) && media.link === undefined ? media.id : null
    if (id === null) return checkReference(media, kind, `${path}['${kind}']`, kindOfUpload)
    const uploaded = kindOfUpload(id)
    return uploaded === kind ? null : formatMismatch('header', kind, uploaded)
  }
}

/** Refuses a parameter of another kind than the template's. */
export function formatMismatch(path: string, expected: string, received: string | null | undefined): Refusal {
  const got = (received ?? 'unknown').toUpperCase()
  return refusals.parameterFormat(`${path}: Format mismatch, expected ${expected.toUpperCase()}, received ${got}`)
}
