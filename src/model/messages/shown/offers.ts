import { isDeeperThan, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { readFields, readItems, readText, readTexts } from './read.js'
import type { ContentOf, ShownContent } from './schemas.js'

const MAX_DATA_DEPTH = 32

/** What a sent interactive message offers or asks for; `text`: its body. Null: the kind is not known. */
export function presentOffer(content: JsonObject, text: string): ShownContent | null {
  const { header, body, footer, catalog_id, product_id } = content
  const file = presentHeaderFile(content)
  const frame = {
    header: readText(header),
    ...(file && { header_media: file }),
    body: readText(text) ?? readText(body),
    footer: readText(footer),
  }
  const { type } = content
  switch (type) {
    case 'button':
      return { type: 'buttons', ...frame, buttons: readItems(content.buttons, presentChoice) }
    case 'list':
      return { type, ...frame, button: readText(content.button), sections: readItems(content.sections, presentSection) }
    case 'cta_url':
      return { type, ...frame, display_text: readText(content.display_text), url: readText(content.url) }
    case 'flow_offer':
      return { type, ...frame, ...presentForm(content) }
    case 'location_request':
    case 'contact_request':
      return { type, ...frame }
    case 'address_request':
      return {
        type,
        ...frame,
        country: readText(content.country),
        values: readFields(content.values),
        saved_addresses: readItems(content.saved_addresses, ({ id, value }) => ({
          id: readText(id),
          value: readFields(value),
        })),
      }
    case 'product_offer':
      return { type, ...frame, catalog_id: readText(catalog_id), product_id: readText(product_id) }
    case 'product_list':
      return {
        type,
        ...frame,
        catalog_id: readText(catalog_id),
        sections: readItems(content.sections, presentProducts),
      }
    case 'catalog':
      return { type, ...frame, thumbnail_product_id: readText(content.thumbnail_product_id) }
    case 'carousel':
      return { type, ...frame, cards: readItems(content.cards, presentCard) }
    default:
      return null
  }
}

/** Products under a title. */
export function presentProducts({ title, product_ids }: JsonObject) {
  return { title: readText(title), product_ids: readTexts(product_ids) }
}

/** The file above the text; null if there is none. */
function presentHeaderFile({ header_type, filename, mime_type }: JsonObject) {
  const type = readText(header_type)
  return type && { type, filename: readText(filename), mime_type: readText(mime_type) }
}

/** The file above the text of a card; null if there is none. */
export function presentCardFile(media: unknown) {
  return isJsonObject(media) ? { type: readText(media.type), url: readText(media.url) } : null
}

function presentChoice({ id, title }: JsonObject) {
  return { id: readText(id), title: readText(title) }
}

function presentSection({ title, rows }: JsonObject) {
  return {
    title: readText(title),
    rows: readItems(rows, (row) => ({ ...presentChoice(row), description: readText(row.description) })),
  }
}

function presentForm(content: JsonObject) {
  return {
    flow_id: readText(content.flow_id),
    flow_name: readText(content.flow_name),
    flow_cta: readText(content.flow_cta),
    flow_token: readText(content.flow_token),
    mode: readText(content.mode),
    flow_action: readText(content.flow_action),
    screen: readText(content.screen),
    data: presentData(content.data),
  }
}

/** What the first screen of a form shows. */
export function presentData(data: unknown): JsonObject | null {
  return isJsonObject(data) && !isDeeperThan(data, MAX_DATA_DEPTH) ? data : null
}

function presentCard(card: JsonObject): ContentOf<'carousel'>['cards'][number] {
  const { type, header_media: media, body } = card
  if (type === 'product') {
    return { type, catalog_id: readText(card.catalog_id), product_id: readText(card.product_id) }
  }
  const common = {
    header_media: presentCardFile(media),
    body: readText(body),
  }
  if (type === 'button') return { type, ...common, buttons: readItems(card.buttons, presentChoice) }
  return { type: 'cta_url', ...common, display_text: readText(card.display_text), url: readText(card.url) }
}
