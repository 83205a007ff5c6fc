import { type Static, Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import { Maybe, RequiredList, RequiredText } from '../../../model/fields.js'
import { type GivenFile, HEADER_FIELDS, type InteractiveHeader } from '../../../model/messages/content.js'
import type { AddressValues, InteractiveContent } from '../../../model/messages/interactive.js'
import { checkSections, LIMITS, refuseTwice } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { Carousel, readCarousel } from './carousel-body.js'
import { FlowOffer, readFlow } from './flow-body.js'
import { requireGivenFile } from './given-file.js'
import { body, choices, footer, header, headerMedia, thumbnail, urlButton } from './interactive-fields.js'
import { OneOf, textOrNull } from './one-of.js'
import { ProductList, ProductOffer, readProductList } from './product-body.js'

const Buttons = named(
  'Buttons',
  Type.Object({ body, header, footer, type: Type.Literal('button'), header_media: headerMedia, buttons: choices }),
)

const List = named(
  'List',
  Type.Object({
    body,
    header,
    footer,
    type: Type.Literal('list'),
    button: RequiredText(LIMITS.title),
    sections: RequiredList(
      Type.Object({
        title: Maybe(
          Type.String({ maxLength: LIMITS.sectionTitle, description: 'Required in a list of several sections' }),
        ),
        rows: RequiredList(
          Type.Object({
            id: RequiredText(LIMITS.rowId),
            title: RequiredText(LIMITS.rowTitle),
            description: Maybe(Type.String({ maxLength: LIMITS.description })),
          }),
          LIMITS.rows,
        ),
      }),
      LIMITS.sections,
    ),
  }),
)

const UrlOffer = named(
  'UrlOffer',
  Type.Object({ type: Type.Literal('cta_url'), body, header, header_media: headerMedia, footer, ...urlButton }),
)

const LocationRequest = named('LocationRequest', Type.Object({ type: Type.Literal('location_request'), body }))

const ContactRequest = named('ContactRequest', Type.Object({ type: Type.Literal('contact_request'), body }))

const Catalog = named(
  'Catalog',
  Type.Object({ type: Type.Literal('catalog'), body, footer, thumbnail_product_id: thumbnail }),
)

/** Own limits: the upstream names none for addresses. */
const MAX_ADDRESS_FIELDS = 20
const MAX_SAVED_ADDRESSES = 20
const MAX_ADDRESS_ID = 100

const Values = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: LIMITS.place }), {
  maxProperties: MAX_ADDRESS_FIELDS,
  description: "Fields of an address, by WhatsApp's names: name, phone_number, in_pin_code, address, city, …",
})

const AddressRequest = named(
  'AddressRequest',
  Type.Object({
    type: Type.Literal('address'),
    body,
    country: Type.String({
      minLength: 1,
      pattern: '^[A-Z]{2}$',
      description: 'must be a country code of two capital letters, such as IN',
      'x-missing': true,
    }),
    values: Maybe(Values),
    saved_addresses: Maybe(
      Type.Array(Type.Object({ id: RequiredText(MAX_ADDRESS_ID), value: Values }), {
        maxItems: MAX_SAVED_ADDRESSES,
        description: 'Addresses to choose from',
      }),
    ),
  }),
)

/** The field `interactive`: one of the kinds of interactive messages. */
export const InteractiveBody = OneOf(
  'type',
  [
    Buttons,
    List,
    UrlOffer,
    FlowOffer,
    LocationRequest,
    AddressRequest,
    ProductOffer,
    ProductList,
    Catalog,
    Carousel,
    ContactRequest,
  ],
  'interactive is required for interactive messages',
)

export type InteractiveBody = Static<typeof InteractiveBody>

/** An interactive message with its header, as message content. */
export interface ReadInteractive {
  interactive: InteractiveContent
  header: InteractiveHeader<GivenFile> | null
}

/** The content of a validated body. Throws missing_field and invalid_field for rules that a schema cannot express. */
export function readInteractive(given: InteractiveBody): ReadInteractive {
  return { interactive: readKind(given), header: readHeader(given) }
}

function readKind(given: InteractiveBody): InteractiveContent {
  switch (given.type) {
    case 'button': {
      refuseTwice(given.buttons, (index) => `interactive.buttons[${index}].id`)
      const buttons = given.buttons.map(({ id, title }) => ({ id, title }))
      return { type: 'button', ...readFrame(given), buttons }
    }
    case 'list': {
      checkSections(given.sections, 'interactive.sections', 'id')
      const sections = given.sections.map(({ title, rows }) => ({
        title: textOrNull(title),
        rows: rows.map((row) => ({ id: row.id, title: row.title, description: textOrNull(row.description) })),
      }))
      return { type: 'list', ...readFrame(given), button: given.button, sections }
    }
    case 'cta_url': {
      const { display_text, url } = given
      return { type: 'cta_url', ...readFrame(given), display_text, url }
    }
    case 'flow':
      return { ...readFrame(given), ...readFlow(given) }
    case 'location_request':
    case 'contact_request':
      return { type: given.type, body: given.body, footer: null }
    case 'address':
      return { body: given.body, footer: null, ...readAddress(given) }
    case 'product': {
      const { catalog_id, product_id, footer } = given
      const texts = { body: given.body ?? '', footer: textOrNull(footer) }
      return { type: 'product_offer', ...texts, catalog_id, product_id }
    }
    case 'product_list':
      return { ...readFrame(given), ...readProductList(given) }
    case 'catalog':
      return { type: 'catalog', ...readFrame(given), thumbnail_product_id: textOrNull(given.thumbnail_product_id) }
    case 'carousel':
      return readCarousel(given)
  }
}

function readFrame({ body, footer }: { body: string; footer?: string | null }): {
  body: string
  footer: string | null
} {
  return { body, footer: textOrNull(footer) }
}

function readAddress({ country, values, saved_addresses: saved }: Static<typeof AddressRequest>) {
  const given = saved ?? []
  refuseTwice(given, (index) => `interactive.saved_addresses[${index}].id`)
  return {
    type: 'address_request' as const,
    country,
    values: valuesOrNull(values),
    saved_addresses: given.map(({ id, value }) => ({ id, value })),
  }
}

function valuesOrNull(values: AddressValues | null | undefined): AddressValues | null {
  return values && Object.keys(values).length > 0 ? values : null
}

/** Only some kinds have a header; a field that the others do not know is ignored. */
function readHeader(given: InteractiveBody): ReadInteractive['header'] {
  switch (given.type) {
    case 'button':
    case 'cta_url':
    case 'flow':
      return given.header_media ? readFileHeader(given.header_media, given.header) : readTextHeader(given.header)
    case 'list':
    case 'product_list':
      return readTextHeader(given.header)
    default:
      return null
  }
}

function readTextHeader(header: string | null | undefined): ReadInteractive['header'] {
  return header ? { type: 'text', text: header } : null
}

type HeaderMedia = NonNullable<Static<typeof Buttons>['header_media']>

function readFileHeader(media: HeaderMedia, text: string | null | undefined): ReadInteractive['header'] {
  if (text) {
    throw new Problem('invalid_field', 'interactive.header and interactive.header_media exclude each other: give one')
  }
  const file = requireGivenFile(media, HEADER_FIELDS, `${HEADER_FIELDS[0]} is required and must not be empty`)
  return { type: media.type, file, filename: textOrNull(media.filename) }
}
