import type { ShownContent } from '../../../../../../src/model/messages/shown/schemas.js'
import { TEXT_LIMITS } from '../attachments/limits.js'
import { type CardProblem, type FileCards, NO_FILE_CARDS, problemsOfCards, toCards } from './file-cards.js'
import { isLink } from './is-link.js'
import { type LinesProblem, problemOfLines, readSections } from './lines.js'

/**
 * What the buttons of a message do; the names are those of POST /send-chat, where a carousel has products or files on
 * its cards.
 */
export const OFFER_KINDS = [
  'button',
  'list',
  'cta_url',
  'location_request',
  'contact_request',
  'address',
  'flow',
  'product',
  'product_list',
  'carousel',
  'file_carousel',
  'catalog',
] as const
export type OfferKind = (typeof OFFER_KINDS)[number]

const NO_TEXTS = {
  header: '',
  body: '',
  footer: '',
  first: '',
  second: '',
  third: '',
  display_text: '',
  url: '',
  country: 'IN',
  flow_id: '',
  flow_cta: '',
  catalog_id: '',
  product_id: '',
  thumbnail_product_id: '',
  opener: '',
  rows: '',
  products: '',
  cards: '',
}

/** What is filled in, by the names of the fields. Kinds share fields, so a text stays when another kind is chosen. */
export type OfferValues = typeof NO_TEXTS & { fileCards: FileCards }

export const NO_VALUES: OfferValues = { ...NO_TEXTS, fileCards: NO_FILE_CARDS }

/** A text field of an offer. */
export interface OfferField {
  name: keyof typeof NO_TEXTS
  maxLength: number
  isNeeded: boolean
}

/** Why a field is wrong. */
export type FieldProblem = 'needed' | 'needsLink' | 'needsCountry' | LinesProblem

const field = (name: OfferField['name'], maxLength: number): OfferField => ({ name, maxLength, isNeeded: false })
const needed = (name: OfferField['name'], maxLength: number): OfferField => ({ name, maxLength, isNeeded: true })

/** The most characters of a field of several lines, each of which has limits of its own. */
const MAX_LINES = 4_000

const header = field('header', TEXT_LIMITS.header)
const body = needed('body', TEXT_LIMITS.body)
const footer = field('footer', TEXT_LIMITS.footer)

/** The text fields of each kind, with the limits of POST /send-chat. */
export const OFFER_FIELDS: Record<OfferKind, OfferField[]> = {
  button: [
    header,
    body,
    footer,
    needed('first', TEXT_LIMITS.title),
    field('second', TEXT_LIMITS.title),
    field('third', TEXT_LIMITS.title),
  ],
  cta_url: [header, body, footer, needed('display_text', TEXT_LIMITS.title), needed('url', TEXT_LIMITS.url)],
  location_request: [body],
  contact_request: [body],
  address: [body, needed('country', TEXT_LIMITS.country)],
  flow: [header, body, footer, needed('flow_cta', TEXT_LIMITS.flowTitle), needed('flow_id', TEXT_LIMITS.flowId)],
  product: [
    field('body', TEXT_LIMITS.body),
    footer,
    needed('catalog_id', TEXT_LIMITS.productId),
    needed('product_id', TEXT_LIMITS.productId),
  ],
  list: [header, body, footer, needed('opener', TEXT_LIMITS.title), needed('rows', MAX_LINES)],
  product_list: [
    needed('header', TEXT_LIMITS.header),
    body,
    footer,
    needed('catalog_id', TEXT_LIMITS.productId),
    needed('products', MAX_LINES),
  ],
  carousel: [body, needed('catalog_id', TEXT_LIMITS.productId), needed('cards', MAX_LINES)],
  file_carousel: [body],
  catalog: [body, footer, field('thumbnail_product_id', TEXT_LIMITS.productId)],
}

/** What is wrong with what is filled in, by the paths of the fields; first what stands first. */
export function problemsOf(kind: OfferKind, values: OfferValues): [path: string, FieldProblem | CardProblem][] {
  const problems = OFFER_FIELDS[kind].flatMap((field): [string, FieldProblem][] => {
    const problem = problemOf(field, values[field.name])
    return problem === null ? [] : [[field.name, problem]]
  })
  return kind === 'file_carousel' ? [...problems, ...problemsOfCards(values.fileCards, 'fileCards')] : problems
}

/** What is wrong with a field; null if nothing is. */
export function problemOf({ name, isNeeded }: OfferField, value: string): FieldProblem | null {
  const given = value.trim()
  if (given === '') return isNeeded ? 'needed' : null
  if (name === 'url') return isLink(given) ? null : 'needsLink'
  if (name === 'rows' || name === 'products' || name === 'cards') return problemOfLines(name, given)
  if (name === 'country') return /^[a-z]{2}$/i.test(given) ? null : 'needsCountry'
  return null
}

/** The content of the message, as the conversation will show it. */
export function toContent(kind: OfferKind, values: OfferValues): ShownContent {
  const given = (name: OfferField['name']) => {
    const isField = OFFER_FIELDS[kind].some((known) => known.name === name)
    return isField ? values[name].trim() || null : null
  }
  const frame = { header: given('header'), body: given('body'), footer: given('footer') }
  switch (kind) {
    case 'button': {
      const titles = [...new Set([given('first'), given('second'), given('third')])].filter((title) => title !== null)
      return { type: 'buttons', ...frame, buttons: titles.map((title, at) => ({ id: `button_${at + 1}`, title })) }
    }
    case 'cta_url':
      return { type: kind, ...frame, display_text: given('display_text'), url: given('url') }
    case 'location_request':
    case 'contact_request':
      return { type: kind, ...frame }
    case 'address': {
      const country = given('country')?.toUpperCase() ?? null
      return { type: 'address_request', ...frame, country, values: {}, saved_addresses: [] }
    }
    case 'flow': {
      const left = { flow_name: null, flow_token: null, mode: null, flow_action: null, screen: null, data: null }
      return { type: 'flow_offer', ...frame, ...left, flow_id: given('flow_id'), flow_cta: given('flow_cta') }
    }
    case 'product':
      return { type: 'product_offer', ...frame, catalog_id: given('catalog_id'), product_id: given('product_id') }
    case 'list': {
      let count = 0
      const sections = readSections(values.rows).map(({ title, lines }) => ({
        title,
        rows: lines.map((line) => {
          count += 1
          const [name = '', description] = line.split('|', 2).map((part) => part.trim())
          return { id: `row_${count}`, title: name, description: description || null }
        }),
      }))
      return { type: kind, ...frame, button: given('opener'), sections }
    }
    case 'product_list': {
      const sections = readSections(values.products).map(({ title, lines }) => ({ title, product_ids: lines }))
      return { type: kind, ...frame, catalog_id: given('catalog_id'), sections }
    }
    case 'carousel': {
      const catalog_id = given('catalog_id')
      const ids = readSections(values.cards).flatMap(({ lines }) => lines)
      return { type: kind, ...frame, cards: ids.map((product_id) => ({ type: 'product', catalog_id, product_id })) }
    }
    case 'file_carousel':
      return { type: 'carousel', ...frame, cards: toCards(values.fileCards) }
    case 'catalog':
      return { type: kind, ...frame, thumbnail_product_id: given('thumbnail_product_id') }
  }
}

/** The types that are called otherwise in a conversation, where answers have types too. */
const ASKED_AS: Partial<Record<ShownContent['type'], string>> = {
  buttons: 'button',
  flow_offer: 'flow',
  address_request: 'address',
  product_offer: 'product',
}

/** The content of a conversation as the field `interactive` of POST /send-chat, which refuses what its type lacks. */
export function toInteractive(content: ShownContent): Record<string, unknown> {
  const given = Object.entries(content).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(given), type: ASKED_AS[content.type] ?? content.type }
}
