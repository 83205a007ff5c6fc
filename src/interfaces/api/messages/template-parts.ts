import { type Static, Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import { readEnd } from '../../../http/moment.js'
import { Maybe } from '../../../model/fields.js'
import type { CatalogProduct, ProductSection } from '../../../model/messages/interactive.js'
import { checkProductSections, LIMITS } from '../../../model/messages/limits.js'
import { checkOfferEnd, type GivenCard, type GivenParts } from '../../../model/templates/fill-parts.js'
import { parameterValues } from '../../../model/templates/input.js'
import {
  catalogId,
  checkFormData,
  formData,
  formToken,
  ProductId,
  productSection,
  thumbnail,
  WebAddress,
} from './interactive-fields.js'
import { textOrNull } from './one-of.js'

const headerProduct = Maybe(
  named(
    'HeaderProduct',
    Type.Object({ catalog_id: catalogId, product_id: ProductId }, { description: 'The product in the header' }),
  ),
)

const Card = named(
  'TemplateCard',
  Type.Object({
    headerMedia: Maybe(WebAddress),
    headerProduct,
    bodyParameters: parameterValues('Values of the variables in the body of the card'),
    buttonParameters: parameterValues('Values of the variables of its URL buttons'),
  }),
)

/** The fields of a send for the parts of a template that are no variables. */
export const partFields = {
  headerProduct,
  offerEndsAt: Maybe(
    Type.String({
      format: 'date-time',
      description: 'When a limited-time offer ends: a time after the send, with a zone',
    }),
  ),
  thumbnailProductId: thumbnail,
  productSections: Maybe(
    Type.Array(productSection('Required if there are several sections'), {
      maxItems: LIMITS.sections,
      description: 'The products that a button shows',
    }),
  ),
  flow: Maybe(Type.Object({ token: formToken, data: formData }, { description: 'For the form that a button opens' })),
  cards: Maybe(
    Type.Array(Card, {
      maxItems: LIMITS.carousel.most,
      description: 'The cards of a carousel, as many as the template has',
    }),
  ),
}

const Parts = Type.Object(partFields)

/**
 * The parts of a validated body; `sendAt`: when it is sent, null if now. Throws missing_field and invalid_field for
 * rules that a schema cannot express.
 */
export function readParts(
  given: Static<typeof Parts>,
  { now, sendAt }: { now: Date; sendAt: Date | null },
): GivenParts {
  const sections = given.productSections ?? []
  checkProductSections(sections, 'productSections')
  const offerEndsAt = given.offerEndsAt ? readEnd('offerEndsAt', given.offerEndsAt, now) : null
  if (offerEndsAt && sendAt) checkOfferEnd(offerEndsAt, sendAt)
  return {
    headerProduct: productOrNull(given.headerProduct),
    offerEndsAt: offerEndsAt?.toISOString() ?? null,
    thumbnailProductId: textOrNull(given.thumbnailProductId),
    productSections: sections.map(readSection),
    flow: readFlow(given.flow),
    cards: (given.cards ?? []).map(readCard),
  }
}

function productOrNull(given: CatalogProduct | null | undefined): CatalogProduct | null {
  return given ? { catalog_id: given.catalog_id, product_id: given.product_id } : null
}

type GivenSection = NonNullable<Static<typeof Parts>['productSections']>[number]

function readSection({ title, product_ids }: GivenSection): ProductSection {
  return { title: textOrNull(title), product_ids }
}

function readFlow(given: Static<typeof Parts>['flow']): GivenParts['flow'] {
  if (!given) return null
  const token = textOrNull(given.token)
  const data = given.data ?? null
  if (data !== null) checkFormData(data, 'flow.data')
  return token === null && data === null ? null : { token, data }
}

function readCard(card: Static<typeof Card>): GivenCard {
  return {
    headerMedia: textOrNull(card.headerMedia),
    headerProduct: productOrNull(card.headerProduct),
    parameters: { body: card.bodyParameters ?? {}, header: {}, buttons: card.buttonParameters ?? {} },
  }
}
