import { memoize } from '../../lib/async/memoize.js'
import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { findUnfillable, type Template } from './template.js'

/** The parts of a template that are filled by objects and not by the values of variables. */
export interface TemplateParts {
  /** Whether the header is a product. */
  hasHeaderProduct: boolean
  hasOffer: boolean
  /** Whether the template has an offer whose end a send tells. */
  hasOfferEnd: boolean
  /** The index of the button that shows the catalogue, shows products, or opens a form; null if there is none. */
  catalogButton: number | null
  productsButton: number | null
  flowButton: number | null
  cards: CardParts[]
  /** The first part that cannot be filled even so; null if there is none. */
  unfillable: string | null
}

/** A card of a carousel, read as a template of its own. */
export interface CardParts {
  template: Template
  header: 'image' | 'video' | 'product' | null
}

const KNOWN = {
  components: ['CAROUSEL', 'LIMITED_TIME_OFFER'],
  headers: ['PRODUCT'],
  // That of one product opens what the header shows.
  buttons: ['CATALOG', 'MPM', 'SPM'],
}

/** Reads the parts of a template. */
export const partsOf = memoize((template: Template): TemplateParts => {
  const { components } = template
  const cards = asObjects(find(components, 'CAROUSEL').cards).map((card) => readCard(template, card))
  const buttons = asObjects(find(components, 'BUTTONS').buttons).map(typeOf)
  const placeOf = (type: string) => (buttons.includes(type) ? buttons.indexOf(type) : null)
  return {
    hasHeaderProduct: isProduct(find(components, 'HEADER')),
    hasOffer: components.some((component) => typeOf(component) === 'LIMITED_TIME_OFFER'),
    hasOfferEnd: asObject(find(components, 'LIMITED_TIME_OFFER').limited_time_offer).has_expiration === true,
    catalogButton: placeOf('CATALOG'),
    productsButton: placeOf('MPM'),
    flowButton: placeOf('FLOW'),
    cards,
    unfillable: findUnfillable(components, KNOWN) ?? unfillableCard(cards),
  }
})

function readCard({ name, language, status, category, parameter_format }: Template, card: JsonObject): CardParts {
  const components = asObjects(card.components)
  const header = asText(find(components, 'HEADER').format)?.toLowerCase()
  const known = (['image', 'video', 'product'] as const).find((kind) => kind === header)
  return {
    template: { name, language, status, category, parameter_format, components },
    header: known ?? null,
  }
}

function unfillableCard(cards: CardParts[]): string | null {
  for (const { template } of cards) {
    const unfillable = findUnfillable(template.components, { ...KNOWN, components: [] })
    if (unfillable !== null) return `card with a ${unfillable}`
  }
  return null
}

function isProduct(header: JsonObject): boolean {
  return asText(header.format)?.toUpperCase() === 'PRODUCT'
}

function find(components: readonly JsonObject[], type: string): JsonObject {
  return asObject(components.find((component) => typeOf(component) === type))
}

function typeOf({ type }: JsonObject): string {
  return asText(type)?.toUpperCase() ?? ''
}
