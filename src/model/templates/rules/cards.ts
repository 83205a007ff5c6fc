import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { TEMPLATE_LIMITS } from '../../../upstream/template-limits.js'
import { checkButtons } from './buttons.js'
import type { TemplateDraft } from './draft.js'
import { checkLength, fault, type TemplateFault } from './faults.js'
import { checkBody, checkHeader, type Part, partsOf } from './texts.js'

const CARD_HEADERS = ['IMAGE', 'VIDEO', 'PRODUCT']
const OFFER_HEADERS = ['IMAGE', 'VIDEO']

/** The faults of a carousel. */
export function checkCarousel({ path, component }: Part, draft: TemplateDraft): TemplateFault[] {
  const { least, most } = TEMPLATE_LIMITS.carousel
  const field = `${path}.cards`
  const cards = asObjects(component.cards)
  if (cards.length < least) return [fault(field, 'items_at_least', { limit: least })]
  if (cards.length > most) return [fault(field, 'items_at_most', { limit: most, given: cards.length })]
  const kinds = cards.map(kindsOf)
  const other = kinds.findIndex((names) => names !== kinds[0])
  if (other > 0) return [fault(`${field}[${other}]`, 'cards_alike', { names: kinds[0] ?? '' })]
  return cards.flatMap((card, index) => checkCard(`${field}[${index}].components`, card, draft))
}

/** The kinds of a card's parts, such as `HEADER IMAGE, BODY, BUTTONS URL`. */
function kindsOf({ components }: JsonObject): string {
  return asObjects(components)
    .map(({ type, format, buttons }) =>
      [type, format, ...asObjects(buttons).map((button) => button.type)]
        .filter((word) => asText(word) !== null)
        .join(' '),
    )
    .join(', ')
}

function checkCard(path: string, { components }: JsonObject, draft: TemplateDraft): TemplateFault[] {
  const parts = partsOf(path, components)
  const find = (type: string) => parts.find(({ component }) => component.type === type)
  const [header, body, buttons] = [find('HEADER'), find('BODY'), find('BUTTONS')]
  if (!header) return [fault(path, 'must_have', { kind: 'HEADER' })]
  const { body: limit, buttons: most } = TEMPLATE_LIMITS.carousel
  return [
    ...checkHeader(header, draft, CARD_HEADERS),
    ...(body ? checkBody(body, draft, limit) : []),
    ...(buttons ? checkButtons(buttons, draft, { most }) : [fault(path, 'must_have', { kind: 'BUTTONS' })]),
  ]
}

/** The faults of a limited-time offer, and of the parts that it does not allow. */
export function checkOffer({ path, component }: Part, { components }: TemplateDraft): TemplateFault[] {
  const { text } = asObject(component.limited_time_offer)
  const header = components.find(({ type }) => type === 'HEADER')
  const isFooted = components.some(({ type }) => type === 'FOOTER')
  const hasFile = header === undefined || OFFER_HEADERS.includes(String(header.format))
  return [
    ...checkLength(`${path}.limited_time_offer.text`, text, TEMPLATE_LIMITS.offer.text),
    ...(hasFile
      ? []
      : [fault(`components[${components.indexOf(header)}].format`, 'one_of', { names: OFFER_HEADERS.join(', ') })]),
    ...(isFooted ? [fault(path, 'not_together', { other: 'FOOTER' })] : []),
  ]
}
