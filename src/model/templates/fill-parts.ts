import type { FilledCard, FilledParts } from '../messages/content.js'
import type { CatalogProduct, ProductSection } from '../messages/interactive.js'
import { Problem } from '../problem.js'
import { fillTemplate } from './fill.js'
import { checkParameters, type TemplateParameters } from './parameters.js'
import { type CardParts, partsOf } from './parts.js'
import type { Person } from './placeholders.js'
import type { Template } from './template.js'

/** What a request gives for the parts of a template. */
export interface GivenParts {
  headerProduct: CatalogProduct | null
  /** In ISO 8601. */
  offerEndsAt: string | null
  thumbnailProductId: string | null
  productSections: ProductSection[]
  flow: { token: string | null; data: Record<string, unknown> | null } | null
  cards: GivenCard[]
}

/** What a request gives for a card of a carousel. */
export interface GivenCard {
  /** The address of the file in its header; the upstream fetches it. */
  headerMedia: string | null
  headerProduct: CatalogProduct | null
  parameters: TemplateParameters
}

/** Throws invalid_field if an offer has ended before its template is to be sent. */
export function checkOfferEnd(endsAt: Date, sendAt: Date): void {
  if (endsAt > sendAt) return
  throw new Problem(
    'invalid_field',
    `The offer ends before it is sent (offerEndsAt ${endsAt.toISOString()}, scheduled_at ${sendAt.toISOString()}): give an earlier scheduled_at, or another offerEndsAt`,
  )
}

/**
 * Fills the parts of a template for one person. Throws missing_field or invalid_field with what it needs and does not
 * get, or gets and has no part for.
 */
export function fillParts(template: Template, given: GivenParts, person: Person): FilledParts {
  const parts = partsOf(template)
  const { catalogButton, productsButton, flowButton } = parts
  const checkOf = checker(template)
  checkOf('headerProduct', parts.hasHeaderProduct, given.headerProduct !== null)
  checkOf('offerEndsAt', parts.hasOfferEnd, given.offerEndsAt !== null)
  checkOf('productSections', productsButton !== null, given.productSections.length > 0)
  const hasThumbnail = productsButton !== null || catalogButton !== null
  if (!hasThumbnail) checkOf('thumbnailProductId', false, given.thumbnailProductId !== null)
  if (flowButton === null) checkOf('flow', false, given.flow !== null)
  checkOf('cards', parts.cards.length > 0, given.cards.length > 0)
  return {
    headerProduct: given.headerProduct,
    offerEndsAt: given.offerEndsAt,
    buttons: [
      ...(catalogButton === null ? [] : [catalogOf(catalogButton, given.thumbnailProductId)]),
      ...(productsButton === null ? [] : [productsOf(productsButton, given)]),
      ...(flowButton === null || given.flow === null
        ? []
        : [{ kind: 'flow' as const, index: flowButton, ...given.flow }]),
    ],
    cards: fillCards(template, parts.cards, given.cards, person),
  }
}

function catalogOf(index: number, thumbnail: string | null): FilledParts['buttons'][number] {
  return { kind: 'catalog', index, thumbnailProductId: thumbnail }
}

/** The picture is that of the first product, unless another one is named. */
function productsOf(
  index: number,
  { thumbnailProductId, productSections }: GivenParts,
): FilledParts['buttons'][number] {
  const first = productSections[0]?.product_ids[0] ?? ''
  return { kind: 'products', index, thumbnailProductId: thumbnailProductId ?? first, sections: productSections }
}

/** Refuses what is missing, and what the template has no part for. */
function checker({ name, language }: Template): (field: string, isNeeded: boolean, isGiven: boolean) => void {
  return (field, isNeeded, isGiven) => {
    if (isNeeded === isGiven) return
    const verb = isNeeded ? 'needs' : 'has no part for'
    throw new Problem(
      isNeeded ? 'missing_field' : 'invalid_field',
      `The template "${name}" (${language}) ${verb} ${field}`,
    )
  }
}

function fillCards(template: Template, cards: CardParts[], given: GivenCard[], person: Person): FilledCard[] {
  if (given.length !== cards.length) {
    throw new Problem(
      'invalid_field',
      `cards must have ${cards.length} items, as the template "${template.name}" (${template.language}), not ${given.length}`,
    )
  }
  return cards.map((card, index) => fillCard(card, given[index] as GivenCard, `cards[${index}]`, person))
}

function fillCard(card: CardParts, given: GivenCard, path: string, person: Person): FilledCard {
  const { template, header } = card
  const hasFile = header === 'image' || header === 'video'
  checkPart(`${path}.headerMedia`, hasFile, given.headerMedia !== null)
  checkPart(`${path}.headerProduct`, header === 'product', given.headerProduct !== null)
  const parameters = atPath(path, () =>
    checkParameters(template, given.parameters, { hasHeaderMedia: hasFile, hasParts: true }),
  )
  const file = given.headerMedia === null ? null : { file: { url: given.headerMedia }, filename: null }
  const filled = fillTemplate(template, parameters, person, file)
  if (filled.outcome === 'missing') throw new Problem('invalid_field', `${path}: ${filled.text}`)
  return {
    template: filled.content.template,
    header: hasFile && given.headerMedia !== null ? { type: header, url: given.headerMedia } : null,
    product: given.headerProduct,
  }
}

function checkPart(field: string, isNeeded: boolean, isGiven: boolean): void {
  if (isNeeded === isGiven) return
  if (isNeeded) throw new Problem('missing_field', `${field} is required: the card of the template has it`)
  throw new Problem('invalid_field', `${field} is given, but the card of the template has no part for it`)
}

/** Names the card in the messages about its parameters. */
function atPath<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof Problem) throw new Problem(error.code, `${path}: ${error.message}`, error.extras)
    throw error
  }
}
