import { type Static, Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import { Maybe, RequiredList } from '../../../model/fields.js'
import { checkCards } from '../../../model/messages/carousel.js'
import type { Card, InteractiveContent } from '../../../model/messages/interactive.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { body, catalogId, choices, ProductId, urlButton, WebAddress } from './interactive-fields.js'
import { OneOf, textOrNull } from './one-of.js'

const { least, most, body: bodyLimit, lineBreaks } = LIMITS.carousel

const picture = {
  header_media: Type.Object(
    { type: Type.Enum(['image', 'video'], { 'x-missing': true }), url: WebAddress },
    { 'x-missing': true, description: 'The file above the text. WhatsApp fetches it from its address.' },
  ),
  body: Maybe(Type.String({ maxLength: bodyLimit, description: `At most ${lineBreaks} line breaks` })),
}

const UrlCard = named('UrlCard', Type.Object({ type: Type.Literal('cta_url'), ...picture, ...urlButton }))

const ButtonCard = named('ButtonCard', Type.Object({ type: Type.Literal('button'), ...picture, buttons: choices }))

const ProductCard = named(
  'ProductCard',
  Type.Object({ type: Type.Literal('product'), catalog_id: catalogId, product_id: ProductId }),
)

/** Cards to swipe through. */
export const Carousel = named(
  'Carousel',
  Type.Object({
    type: Type.Literal('carousel'),
    body,
    cards: RequiredList(OneOf('type', [UrlCard, ButtonCard, ProductCard], true), most, { minItems: least }),
  }),
)

/** A carousel as message content. Throws invalid_field if its cards differ where they must not. */
export function readCarousel({ body, cards: given }: Static<typeof Carousel>): InteractiveContent {
  const cards = given.map(readCard)
  checkCards(cards, 'interactive.cards')
  return { type: 'carousel', body, footer: null, cards }
}

type GivenCard = Static<typeof Carousel>['cards'][number]

function readCard(card: GivenCard): Card {
  if (card.type === 'product') {
    const { type, catalog_id, product_id } = card
    return { type, catalog_id, product_id }
  }
  const { header_media: media } = card
  const common = { header_media: { type: media.type, url: media.url }, body: textOrNull(card.body) }
  if (card.type === 'cta_url') {
    const { type, display_text, url } = card
    return { type, ...common, display_text, url }
  }
  return { type: 'button', ...common, buttons: card.buttons.map(({ id, title }) => ({ id, title })) }
}
