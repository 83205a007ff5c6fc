import type { JsonObject } from '../../lib/text/json.js'

export interface Row {
  id: string
  title: string
  description: string | null
}

/** A choice of the recipient, whose answer has its id. */
export interface Choice {
  id: string
  title: string
}

/** A button that opens an address. */
export interface UrlButton {
  display_text: string
  url: string
}

/** A product of the catalogue that is connected to the upstream. */
export interface CatalogProduct {
  catalog_id: string
  product_id: string
}

/** Products of one catalogue. */
export interface ProductSection {
  title: string | null
  product_ids: string[]
}

/** The file above the text of a card; the upstream fetches it from its address. */
interface CardHeader {
  type: 'image' | 'video'
  url: string
}

/** A card of a carousel. */
export type Card =
  | ({ type: 'cta_url'; header_media: CardHeader; body: string | null } & UrlButton)
  | { type: 'button'; header_media: CardHeader; body: string | null; buttons: Choice[] }
  | ({ type: 'product' } & CatalogProduct)

/** The form that a button opens, by its id or its name. */
export interface Flow {
  flow_id: string | null
  flow_name: string | null
  flow_cta: string
  /** What the sender knows the answer by. */
  flow_token: string | null
  mode: 'draft' | 'published' | null
  flow_action: 'navigate' | 'data_exchange' | null
  /** The first screen, and what it shows. */
  screen: string | null
  data: JsonObject | null
}

/** Fields of an address, by the upstream's names. */
export type AddressValues = Record<string, string>

/**
 * An interactive message without its header. The types are those of its content in a conversation: a received answer
 * never has the type of the question.
 */
export type InteractiveContent = { body: string; footer: string | null } & (
  | { type: 'button'; buttons: Choice[] }
  | { type: 'list'; button: string; sections: { title: string | null; rows: Row[] }[] }
  | ({ type: 'cta_url' } & UrlButton)
  | ({ type: 'flow_offer' } & Flow)
  | { type: 'location_request' }
  | { type: 'contact_request' }
  | {
      type: 'address_request'
      country: string
      values: AddressValues | null
      saved_addresses: { id: string; value: AddressValues }[]
    }
  /** The body may be empty. */
  | ({ type: 'product_offer' } & CatalogProduct)
  | { type: 'product_list'; catalog_id: string; sections: ProductSection[] }
  | { type: 'catalog'; thumbnail_product_id: string | null }
  | { type: 'carousel'; cards: Card[] }
)
