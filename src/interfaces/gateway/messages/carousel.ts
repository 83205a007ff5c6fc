import { type Static, Type } from 'typebox'
import { excerpt } from '../../../lib/text/text.js'
import { OptionalText, RequiredList, RequiredText } from '../../../model/fields.js'
import { checkCards } from '../../../model/messages/carousel.js'
import type { Card } from '../../../model/messages/interactive.js'
import { LIMITS } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { checkedAddress, checkedText } from './buttons.js'
import { common } from './fields.js'
import { Address } from './files.js'
import { sendVerb } from './verb.js'

const { least, most, body: maxBody, lineBreaks } = LIMITS.carousel

const CardBody = Type.Object({
  title: OptionalText(maxBody, 'The first line of the text'),
  body: RequiredText(maxBody),
  footer: OptionalText(maxBody, 'The last line of the text'),
  imageUrl: Address,
  buttons: RequiredList(
    Type.Object({
      type: Type.Optional(Type.String({ description: 'reply, or url for the only button of a card' })),
      displayText: Type.Optional(Type.String()),
      id: Type.Optional(Type.String()),
      url: Type.Optional(Type.String()),
    }),
    LIMITS.buttons,
  ),
})

/** Cards to swipe through. */
export const carouselVerb = sendVerb({
  names: ['sendCarousel'],
  summary: 'Send cards to swipe through',
  shape: { wrapper: 'carouselMessage', fields: { body: [], cards: [] } },
  fileField: null,
  schema: Type.Object({
    ...common,
    body: RequiredText(LIMITS.body),
    cards: RequiredList(CardBody, most, { minItems: least }),
  }),
  read: ({ body, cards: given }) => {
    const cards = given.map((card, index) => readCard(card, `cards[${index}]`))
    const odd = cards.findIndex(({ type }) => type !== cards[0]?.type)
    if (odd !== -1) {
      throw new Problem('invalid_field', `cards[${odd}].buttons must be of the same type as the first card's`)
    }
    checkCards(cards, 'cards')
    return {
      content: { type: 'interactive', interactive: { type: 'carousel', body, footer: null, cards }, header: null },
    }
  },
})

type GivenCard = Static<typeof CardBody>

/** The upstream's cards have one text and a file, so title and footer become lines of the text. */
function readCard({ title, body: text, footer, imageUrl, buttons }: GivenCard, path: string): Card {
  const body = [title, text, footer].filter((line) => line).join('\n')
  if ([...body].length > maxBody) {
    throw new Problem(
      'invalid_field',
      `${path}: title, body and footer must have at most ${maxBody} characters together`,
    )
  }
  if (body.split('\n').length - 1 > lineBreaks) {
    throw new Problem(
      'invalid_field',
      `${path}: title, body and footer must have at most ${lineBreaks + 1} lines together`,
    )
  }
  const url = checkedAddress(imageUrl, `${path}.imageUrl`)
  const shown = { header_media: { type: 'image' as const, url }, body }
  const [first] = buttons
  if (first?.type === 'url' && buttons.length === 1) return { type: 'cta_url', ...shown, ...readLink(first, path) }
  const other = buttons.find(({ type = 'reply' }) => type !== 'reply')
  if (other) {
    throw new Problem(
      'not_supported',
      `A card has buttons of type reply, or a single one of type url, not of type ${excerpt(other.type ?? '')}`,
    )
  }
  const replies = buttons.map(({ id, displayText }, index) => ({
    id: checkedText(id, `${path}.buttons[${index}].id`, LIMITS.buttonId),
    title: checkedText(displayText, `${path}.buttons[${index}].displayText`, LIMITS.title),
  }))
  return { type: 'button', ...shown, buttons: replies }
}

function readLink({ displayText, url }: GivenCard['buttons'][number], path: string) {
  return {
    display_text: checkedText(displayText, `${path}.buttons[0].displayText`, LIMITS.title),
    url: checkedAddress(url, `${path}.buttons[0].url`),
  }
}
