import type { ContentOf } from '../../../../src/model/messages/shown/schemas.js'
import { asObject, asObjects, asUpper } from '../json.js'

/** What a send gives besides the values of variables, as the page asks for it. */
export type PartName = 'offerEndsAt' | 'catalogId' | 'productId' | 'productIds' | 'thumbnailProductId'

export interface PartField {
  name: PartName
  isNeeded: boolean
}

/**
 * The parts of a template without variables (src/model/templates/parts). `filledBy`: what can send it: broadcasts too,
 * only a send to one person, or only the API.
 */
export interface TemplateParts {
  fields: PartField[]
  filledBy: 'any_send' | 'single_send' | 'api'
}

// As in src/model/templates/template: what needs nothing but values of variables.
const PLAIN = {
  components: ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CALL_PERMISSION_REQUEST'],
  headers: ['', 'TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'],
  buttons: ['QUICK_REPLY', 'URL', 'OTP', 'COPY_CODE', 'PHONE_NUMBER', 'FLOW', 'VOICE_CALL'],
}
/** What the page has fields for. */
const FILLED = {
  components: [...PLAIN.components, 'LIMITED_TIME_OFFER'],
  headers: [...PLAIN.headers, 'PRODUCT'],
  buttons: [...PLAIN.buttons, 'CATALOG', 'MPM', 'SPM'],
}

/** Reads the parts of a template's components. */
export function readParts(components: readonly unknown[]): TemplateParts {
  const all = asObjects(components)
  const find = (type: string) => asObject(all.find((component) => asUpper(component.type) === type))
  const header = asUpper(find('HEADER').format)
  const buttons = asObjects(find('BUTTONS').buttons).map(({ type }) => asUpper(type))
  const hasOnly = (known: typeof PLAIN) =>
    all.every(({ type }) => known.components.includes(asUpper(type))) &&
    known.headers.includes(header) &&
    buttons.every((type) => known.buttons.includes(type))
  const needed = (name: PartName): PartField => ({ name, isNeeded: true })
  const hasEnd = asObject(find('LIMITED_TIME_OFFER').limited_time_offer).has_expiration === true
  return {
    fields: [
      ...(hasEnd ? [needed('offerEndsAt')] : []),
      ...(header === 'PRODUCT' ? [needed('catalogId'), needed('productId')] : []),
      ...(buttons.includes('MPM') ? [needed('productIds')] : []),
      ...(buttons.includes('CATALOG') ? [{ name: 'thumbnailProductId' as const, isNeeded: false }] : []),
    ],
    filledBy: hasOnly(PLAIN) ? 'any_send' : hasOnly(FILLED) ? 'single_send' : 'api',
  }
}

/** The values of the parts, as they are written. `offerEndsAt`: a local time, `YYYY-MM-DDTHH:mm`. */
export type PartValues = Partial<Record<PartName, string>>

/** The fields of POST /send-template. */
export function toPartFields(values: PartValues): Record<string, unknown> {
  const { product, offer_ends_at, sections } = toPartContent(values)
  const thumbnail = values.thumbnailProductId?.trim()
  return {
    ...(product && { headerProduct: product }),
    ...(offer_ends_at && { offerEndsAt: offer_ends_at }),
    ...(sections && { productSections: sections.map(({ product_ids }) => ({ product_ids })) }),
    ...(thumbnail && { thumbnailProductId: thumbnail }),
  }
}

/** The parts as the conversation shows them. */
export function toPartContent({
  offerEndsAt: end,
  catalogId,
  productId,
  productIds,
}: PartValues): Pick<ContentOf<'template'>, 'product' | 'offer_ends_at' | 'sections'> {
  const product_ids = (productIds ?? '').split(',').flatMap((id) => id.trim() || [])
  return {
    ...(productId && { product: { catalog_id: catalogId?.trim() ?? null, product_id: productId.trim() } }),
    ...(end && { offer_ends_at: new Date(end).toISOString() }),
    ...(product_ids.length > 0 && { sections: [{ title: null, product_ids }] }),
  }
}
