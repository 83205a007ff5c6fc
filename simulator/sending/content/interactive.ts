import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkAddressRequest, checkPlainRequest, checkUrlAction } from './actions.js'
import { checkButtons } from './buttons.js'
import { checkCarousel } from './carousel.js'
import { checkRequiredText, type KindOfUpload } from './checks.js'
import { checkFlow } from './flow.js'
import { checkList } from './list.js'
import { checkReference } from './media.js'
import { checkCatalog, checkProduct, checkProductList } from './products.js'

const { body: maxBodyLength, header: maxHeaderLength, footer: maxFooterLength } = UPSTREAM_LIMITS
const mediaHeaders = ['image', 'video', 'document'] as const

/** What a kind of interactive message may have around its action. */
interface Kind {
  header: 'any' | 'text' | 'required text' | 'none'
  hasFooter: boolean
  maxBody: number
  bodyIsOptional?: boolean
  checkAction: (action: unknown) => Refusal | null
}

const bare = { header: 'none', hasFooter: false, maxBody: maxBodyLength } as const
const framed = { header: 'any', hasFooter: true, maxBody: maxBodyLength } as const

const kinds: Record<string, Kind> = {
  button: { ...framed, checkAction: checkButtons },
  list: { ...framed, header: 'text', maxBody: UPSTREAM_LIMITS.listBody, checkAction: checkList },
  cta_url: { ...framed, checkAction: checkUrlAction },
  flow: { ...framed, checkAction: checkFlow },
  location_request_message: { ...bare, checkAction: checkPlainRequest('send_location') },
  request_contact_info: { ...bare, checkAction: checkPlainRequest('request_contact_info') },
  address_message: { ...bare, checkAction: checkAddressRequest },
  product: { ...bare, hasFooter: true, bodyIsOptional: true, checkAction: checkProduct },
  product_list: { ...framed, header: 'required text', checkAction: checkProductList },
  catalog_message: { ...bare, hasFooter: true, checkAction: checkCatalog },
  carousel: { ...bare, checkAction: checkCarousel },
}

export function checkInteractive({ interactive }: JsonObject, kindOfUpload: KindOfUpload): Refusal | null {
  if (!isJsonObject(interactive)) return refusals.missing('interactive is required')
  const { type, body, footer, header, action } = interactive
  if (type === undefined) return refusals.missing('interactive: type is required')
  const kind = typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (!kind) {
    return refusals.invalidValue(`interactive: type must be one of ${Object.keys(kinds).join(', ')}, but is ${type}`)
  }
  return (
    (kind.bodyIsOptional && body === undefined ? null : checkTextObject(body, 'Body', kind.maxBody)) ??
    checkFooter(footer, kind, String(type)) ??
    checkHeader(header, kind, String(type), kindOfUpload) ??
    kind.checkAction(action)
  )
}

function checkTextObject(value: unknown, name: string, max: number): Refusal | null {
  if (!isJsonObject(value)) return refusals.missing(`${name} text is required`)
  return checkRequiredText(value.text, `${name} text`, max)
}

function checkFooter(footer: unknown, { hasFooter }: Kind, type: string): Refusal | null {
  if (footer === undefined) return null
  if (!hasFooter) return refusals.invalidValue(`Footer is not supported for interactive messages of type ${type}`)
  return checkTextObject(footer, 'Footer', maxFooterLength)
}

function checkHeader(given: unknown, { header }: Kind, type: string, kindOfUpload: KindOfUpload): Refusal | null {
  if (given === undefined) return header === 'required text' ? refusals.missing('Header text is required') : null
  if (header === 'none')
    return refusals.invalidValue(`Header is not supported for interactive messages of type ${type}`)
  if (!isJsonObject(given) || given.type === undefined) return refusals.missing('Header type is required')
  if (given.type === 'text') return checkRequiredText(given.text, 'Header text', maxHeaderLength)
  if (header !== 'any') {
    return refusals.invalidValue(`Header type must be text for interactive messages of type ${type}`)
  }
  const kind = mediaHeaders.find((accepted) => accepted === given.type)
  if (kind) return checkReference(given[kind], kind, `interactive['header']['${kind}']`, kindOfUpload)
  return refusals.invalidValue(`Header type must be one of text, ${mediaHeaders.join(', ')}, but is ${given.type}`)
}
