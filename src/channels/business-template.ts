import type {
  FilledAction,
  FilledCard,
  FilledParts,
  FilledTemplate,
  FilledText,
  TemplateContent,
} from '../model/messages/content.js'
import type { CatalogProduct } from '../model/messages/interactive.js'
import type * as wire from '../upstream/wire.js'
import { optional, toFileHeader, toProductSections, type UploadedFile } from './business-parts.js'

const NO_PARTS: FilledParts = { headerProduct: null, offerEndsAt: null, buttons: [], cards: [] }

/** A filled template in the upstream's format. */
export function toTemplate({
  template,
  header,
  parts = NO_PARTS,
}: TemplateContent<UploadedFile>): wire.TemplatePayload {
  const { name, language } = template
  const above = header === null ? toProductHeader(parts.headerProduct) : [toFileHeader(header)]
  const components: wire.TemplateComponent[] = [
    ...toTexts(template, above),
    ...toOffer(parts.offerEndsAt),
    ...toCarousel(parts.cards),
    ...toButtons(template, parts.buttons),
  ]
  return { name, language: { code: language }, components }
}

/** Header and body; `above`: a header that is no text and no place. Parts without variables are left out. */
function toTexts({ header, body }: FilledTemplate, above: wire.TemplateHeaderParameter[]): wire.TemplateComponent[] {
  const parameters = above.length > 0 ? above : toTextHeader(header)
  return [
    ...(parameters.length === 0 ? [] : [{ type: 'header' as const, parameters }]),
    ...(body.parameters.length === 0 ? [] : [{ type: 'body' as const, parameters: toTextParameters(body) }]),
  ]
}

function toTextHeader(header: FilledTemplate['header']): wire.TemplateHeaderParameter[] {
  if (header === null) return []
  if (header.type === 'text') return toTextParameters(header)
  const { type, ...location } = header
  return [{ type, location }]
}

function toTextParameters({ parameters }: FilledText): wire.TextParameter[] {
  return parameters.map(({ name, text }) => ({ type: 'text', ...optional('parameter_name', name), text }))
}

function toProductHeader(product: CatalogProduct | null): wire.TemplateHeaderParameter[] {
  if (product === null) return []
  const { product_id, catalog_id } = product
  return [{ type: 'product', product: { product_retailer_id: product_id, catalog_id } }]
}

function toOffer(endsAt: string | null): wire.TemplateComponent[] {
  if (endsAt === null) return []
  const end = { expiration_time_ms: new Date(endsAt).getTime() }
  return [{ type: 'limited_time_offer', parameters: [{ type: 'limited_time_offer', limited_time_offer: end }] }]
}

function toCarousel(cards: FilledCard[]): wire.TemplateComponent[] {
  return cards.length === 0 ? [] : [{ type: 'carousel', cards: cards.map(toCard) }]
}

function toCard({ template, header, product }: FilledCard, index: number) {
  const above = header === null ? toProductHeader(product) : [toLinkedHeader(header)]
  return { card_index: index, components: [...toTexts(template, above), ...toButtons(template, [])] }
}

function toLinkedHeader({ type, url }: NonNullable<FilledCard['header']>): wire.CardHeader {
  return type === 'image' ? { type, image: { link: url } } : { type, video: { link: url } }
}

function toButtons({ buttons }: FilledTemplate, actions: FilledAction[]): wire.TemplateComponent[] {
  return buttons.flatMap((button) => {
    const action = actions.find(({ index }) => index === button.index)
    return action === undefined ? toButton(button) : [toActionButton(action)]
  })
}

function toButton({ index, kind, parameter }: FilledTemplate['buttons'][number]): wire.TemplateComponent[] {
  const common = { type: 'button' as const, index: String(index) }
  if (kind === 'flow') return [{ ...common, sub_type: kind }]
  if (parameter === null) return []
  return kind === 'copy_code'
    ? [{ ...common, sub_type: kind, parameters: [{ type: 'coupon_code', coupon_code: parameter }] }]
    : [{ ...common, sub_type: 'url', parameters: [{ type: 'text', text: parameter }] }]
}

function toActionButton(given: FilledAction): wire.TemplateComponent {
  const common = { type: 'button' as const, index: String(given.index) }
  switch (given.kind) {
    case 'catalog': {
      // An action without a thumbnail is refused; without parameters the picture is that of the first product.
      const { thumbnailProductId: id } = given
      const action = { thumbnail_product_retailer_id: id ?? '' }
      return { ...common, sub_type: 'catalog', ...(id !== null && { parameters: [{ type: 'action', action }] }) }
    }
    case 'products': {
      const sections = toProductSections(given.sections)
      const action = { thumbnail_product_retailer_id: given.thumbnailProductId, sections }
      return { ...common, sub_type: 'mpm', parameters: [{ type: 'action', action }] }
    }
    case 'flow': {
      const action = { ...optional('flow_token', given.token), ...optional('flow_action_data', given.data) }
      return { ...common, sub_type: 'flow', parameters: [{ type: 'action', action }] }
    }
  }
}
