import { asObject, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { presentCardFile, presentData, presentProducts } from './offers.js'
import { readInteger, readItems, readNumber, readText, readTexts, readTime, readWhole } from './read.js'
import type { ContentOf } from './schemas.js'

/** Contact cards, in the upstream's form or in ours, which has one company, e-mail address and link. */
export function presentCards(content: unknown): ContentOf<'contacts'> {
  // Some callbacks have the origin beside the cards: the reader puts it into the first one.
  const [origin = null] = readItems(content, (card) => readText(card.origin)).filter((one) => one !== null)
  return { type: 'contacts', origin, contacts: readItems(content, presentCard) }
}

function presentCard(card: JsonObject): ContentOf<'contacts'>['contacts'][number] {
  const { formatted_name: name, first_name: first, last_name: last } = asObject(card.name)
  const { company, department, title } = asObject(card.org)
  return {
    name: readText(name) ?? joined(readText(first), readText(last)),
    first_name: readText(first),
    last_name: readText(last),
    phones: readItems(card.phones, ({ phone, type, wa_id }) => ({
      phone: readText(phone),
      type: readText(type),
      wa_id: readText(wa_id),
    })),
    emails: readItems(card.emails ?? listOfOne('email', card.email), ({ email, type }) => ({
      email: readText(email),
      type: readText(type),
    })),
    urls: readItems(card.urls ?? listOfOne('url', card.url), ({ url, type }) => ({
      url: readText(url),
      type: readText(type),
    })),
    addresses: readItems(card.addresses, (address) => ({
      street: readText(address.street),
      city: readText(address.city),
      state: readText(address.state),
      zip: readText(address.zip),
      country: readText(address.country),
      country_code: readText(address.country_code),
      type: readText(address.type),
    })),
    organization: {
      company: readText(company) ?? readText(card.organization),
      department: readText(department),
      title: readText(title),
    },
    birthday: readText(card.birthday),
    vcard: readWhole(card.vcard),
  }
}

function joined(...parts: (string | null)[]): string | null {
  return readText(parts.filter((part) => part !== null).join(' '))
}

function listOfOne(name: string, value: unknown): JsonObject[] {
  return readText(value) === null ? [] : [{ [name]: value }]
}

/** An order. The sum is shown only if it is one of a single currency. */
export function presentOrder({ catalog_id, text, product_items, ...rest }: JsonObject): ContentOf<'order'> {
  const items = readItems(product_items, (item) => ({
    product_id: readText(item.product_retailer_id),
    quantity: readNumber(item.quantity),
    price: readNumber(item.item_price),
    currency: readText(item.currency),
  }))
  const total = Array.isArray(product_items) && product_items.length === items.length ? sumOf(items) : null
  return {
    type: 'order',
    catalog_id: readText(catalog_id),
    text: readText(text),
    items,
    ...(total !== null && { total }),
    ...('item_count' in rest && presentNetworkOrder(rest)),
  }
}

/** Orders of linked devices tell no items. */
function presentNetworkOrder({ title, item_count, total, currency }: JsonObject): Partial<ContentOf<'order'>> {
  const sum = readNumber(total)
  return {
    title: readText(title),
    item_count: readNumber(item_count),
    ...(sum !== null && { total: sum }),
    currency: readText(currency),
  }
}

/** Prices have at most four decimals; sums of them have errors of the machine's fractions. */
const PRECISION = 10_000

function sumOf(items: ContentOf<'order'>['items']): number | null {
  const [first] = items
  if (!first || first.currency === null) return null
  let sum = 0
  for (const { quantity, price, currency } of items) {
    if (quantity === null || price === null || currency !== first.currency) return null
    sum += quantity * price
  }
  const rounded = Math.round(sum * PRECISION) / PRECISION
  return Number.isFinite(rounded) ? rounded : null
}

/** A poll; `text`: its question. */
export function presentPoll({ name, options, selectable_count }: JsonObject, text: string): ContentOf<'poll'> {
  return {
    type: 'poll',
    name: readText(text) ?? readText(name),
    options: readTexts(options),
    selectable_count: readInteger(selectable_count),
  }
}

/** A sent template; `text`: its body, or its name if it was sent with the upstream's components, which have no body. */
export function presentTemplate(content: JsonObject, text: string): ContentOf<'template'> {
  const place = asObject(content.location)
  const location = {
    latitude: readNumber(place.latitude),
    longitude: readNumber(place.longitude),
    name: readText(place.name),
    address: readText(place.address),
  }
  return {
    type: 'template',
    name: readText(content.name),
    language: readText(content.language),
    header: readText(content.header),
    location: Object.values(location).every((value) => value === null) ? null : location,
    filename: readText(content.filename),
    body: content.components === undefined ? readText(text) : null,
    footer: readText(content.footer),
    buttons: readItems(content.buttons, presentButton),
    parameters: readItems(content.parameters, presentParameter),
    ...presentParts(content),
  }
}

/** The parts of a template that are no values of variables, if it has them. */
function presentParts(content: JsonObject): Partial<ContentOf<'template'>> {
  const { product, offer_ends_at, sections, flow, cards } = content
  const thumbnail = readText(content.thumbnail_product_id)
  const endsAt = readTime(offer_ends_at)
  return {
    ...(isJsonObject(product) && { product: presentProduct(product) }),
    ...(endsAt !== null && { offer_ends_at: endsAt }),
    ...(Array.isArray(sections) && { sections: readItems(sections, presentProducts) }),
    ...(thumbnail !== null && { thumbnail_product_id: thumbnail }),
    ...(isJsonObject(flow) && { flow: { token: readText(flow.token), data: presentData(flow.data) } }),
    ...(Array.isArray(cards) && { cards: readItems(cards, presentTemplateCard) }),
  }
}

function presentTemplateCard({ header_media, product, body, buttons, parameters }: JsonObject) {
  return {
    header_media: presentCardFile(header_media),
    product: isJsonObject(product) ? presentProduct(product) : null,
    body: readText(body),
    buttons: readItems(buttons, presentButton),
    parameters: readItems(parameters, presentParameter),
  }
}

function presentParameter({ component, index, name, text }: JsonObject) {
  return { component: readText(component), index: readInteger(index), name: readText(name), text: readText(text) }
}

function presentProduct({ catalog_id, product_id }: JsonObject) {
  return { catalog_id: readText(catalog_id), product_id: readText(product_id) }
}

function presentButton({ type, text }: JsonObject) {
  return { type: readText(type), text: readText(text) }
}

/** The upstream's words for what changed. */
const EVENTS: Record<string, string> = {
  user_changed_number: 'number_changed',
  customer_changed_number: 'number_changed',
  user_changed_user_id: 'user_id_changed',
  customer_identity_changed: 'identity_changed',
  user_identity_changed: 'identity_changed',
}

/** What changed, by the upstream's word for it, which stays if it is not known. */
export function systemEventOf(word: string | null): string | null {
  return word !== null && Object.hasOwn(EVENTS, word) ? (EVENTS[word] ?? null) : word
}

/** A notice of the upstream about a contact. */
export function presentSystem(content: JsonObject, extras: unknown): ContentOf<'system'> {
  const { from, to } = asObject(asObject(extras).address_change)
  return {
    type: 'system',
    event: systemEventOf(readText(content.type)),
    previous: presentPerson(from),
    current: presentPerson(to),
  }
}

/** A change of a group; what is not understood is null. */
export function presentGroupChange(content: JsonObject): ContentOf<'group'> {
  return {
    type: 'group',
    event: readText(content.event),
    subject: readText(content.subject),
    description: readText(content.description),
    people: readItems(content.people, ({ name, phone_number, user_id, username }) => ({
      name: readText(name),
      phone_number: readText(phone_number),
      user_id: readText(user_id),
      username: readText(username),
    })),
    by: readText(content.by),
  }
}

function presentPerson(value: unknown): ContentOf<'system'>['current'] {
  const { waId, userId } = asObject(value)
  const digits = readText(waId)
  return { phone_number: digits === null ? null : `+${digits}`, user_id: readText(userId) }
}
