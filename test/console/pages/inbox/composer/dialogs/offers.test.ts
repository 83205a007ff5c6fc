import { describe, expect, it } from 'vitest'
import { NO_CARD } from '../../../../../../console/src/pages/inbox/composer/dialogs/file-cards.js'
import {
  NO_VALUES,
  OFFER_FIELDS,
  OFFER_KINDS,
  type OfferKind,
  type OfferValues,
  problemOf,
  toContent,
  toInteractive,
} from '../../../../../../console/src/pages/inbox/composer/dialogs/offers.js'
import { startSendWorld } from '../../../../../support/send-chat.js'
import { useStarted } from '../../../../../support/started.js'

const house = useStarted(startSendWorld)

const FILLED: OfferValues = {
  header: 'Mugs',
  body: 'All colours',
  footer: 'Samples Ltd',
  first: 'Blue',
  second: 'Red',
  third: 'Blue',
  display_text: 'See all',
  url: 'https://shop.example/mugs',
  country: 'in',
  flow_id: '609900000000001',
  flow_cta: 'Book',
  catalog_id: '710000000000001',
  product_id: 'mug-blue',
  thumbnail_product_id: 'mug-red',
  opener: 'Choose',
  rows: '# Mugs\nBlue | Like the sea\nRed\n\n# Cups\nWhite',
  products: '# Mugs\nmug-blue\nmug-red\n# Cups\ncup-white',
  cards: 'mug-blue\nmug-red',
  fileCards: {
    action: 'link',
    cards: ['blue', 'red'].map((colour) => ({
      ...NO_CARD,
      file: `https://files.example/${colour}.jpg`,
      display_text: 'Buy',
      url: `https://shop.example/${colour}`,
    })),
  },
}
/** Their lines have limits of their own. */
const LINES: (keyof OfferValues)[] = ['rows', 'products', 'cards']

const send = async (kind: OfferKind, values: OfferValues) => {
  const phone_number = await house.newContact()
  const interactive = toInteractive(toContent(kind, values))
  const answer = await house.send({ phone_number, message_type: 'interactive', interactive })
  return { answer, phone_number }
}

describe.each(OFFER_KINDS)('a message with buttons of the page: %s', (kind) => {
  /** The text fields that must be filled, and the cards, and nothing else. */
  const sparse = () => {
    const needed = OFFER_FIELDS[kind].filter(({ isNeeded }) => isNeeded).map(({ name }) => [name, FILLED[name]])
    return { ...NO_VALUES, fileCards: FILLED.fileCards, ...Object.fromEntries(needed) } as OfferValues
  }

  it.each([
    ['filled', () => FILLED],
    ['with the needed fields only', sparse],
  ])('is sent, and shown as before it was recorded: %s', async (_, values) => {
    const { answer, phone_number } = await send(kind, values())
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    const [message] = await house.shown(phone_number)
    expect(message.content).toEqual(toContent(kind, values()))
  })

  it('refuses an empty field as the API does', async () => {
    for (const field of OFFER_FIELDS[kind].filter(({ isNeeded }) => isNeeded)) {
      const { answer } = await send(kind, { ...sparse(), [field.name]: ' ' })
      expect([field.name, answer.status, problemOf(field, ' ')]).toEqual([field.name, 400, 'needed'])
    }
  })

  it('takes as much in each field as the API', async () => {
    for (const { name, maxLength } of OFFER_FIELDS[kind].filter((field) => !LINES.includes(field.name))) {
      const fill = (length: number) => ({ ...FILLED, [name]: FILLED[name].padEnd(length, 'x') })
      const most = await send(kind, fill(maxLength))
      const more = await send(kind, fill(maxLength + 1))
      expect([name, most.answer.status, more.answer.status]).toEqual([name, 200, 400])
    }
  })
})

it('links and country codes are checked before they are sent', () => {
  const problem = (kind: OfferKind, name: keyof OfferValues, value: string) =>
    OFFER_FIELDS[kind].filter((field) => field.name === name).map((field) => problemOf(field, value))
  const links = [' https://shop.example ', 'shop.example', 'javascript:alert(1)', 'https://shop.example/a b']
  expect(links.flatMap((link) => problem('cta_url', 'url', link))).toEqual([
    null,
    'needsLink',
    'needsLink',
    'needsLink',
  ])
  expect(['in', 'I', '12'].flatMap((code) => problem('address', 'country', code))).toEqual([
    null,
    'needsCountry',
    'needsCountry',
  ])
})

describe('the lines of lists and carousels are checked as the API checks them', () => {
  const rows = (count: number, text = 'Row') => Array.from({ length: count }, (_, n) => `${text} ${n}`).join('\n')
  const sections = (count: number) => Array.from({ length: count }, (_, n) => `# Part ${n}\nItem ${n}`).join('\n')

  it.each([
    ['list', 'rows', rows(10), null],
    ['list', 'rows', rows(11), 'tooManyRows'],
    ['list', 'rows', 'x'.repeat(24), null],
    ['list', 'rows', 'x'.repeat(25), 'longRow'],
    ['list', 'rows', `Blue | ${'x'.repeat(72)}`, null],
    ['list', 'rows', `Blue | ${'x'.repeat(73)}`, 'longRow'],
    ['list', 'rows', '| only a description', 'longRow'],
    ['list', 'rows', sections(10), null],
    ['list', 'rows', 'Blue\n# Cups\nWhite', 'needsSectionTitles'],
    ['list', 'rows', `# ${'x'.repeat(25)}\nBlue`, 'wrongSections'],
    ['list', 'rows', '# Mugs\n# Cups\nWhite', 'wrongSections'],
    ['product_list', 'products', rows(30), null],
    ['product_list', 'products', rows(31), 'tooManyProducts'],
    ['product_list', 'products', 'x'.repeat(101), 'longProduct'],
    ['product_list', 'products', sections(11), 'wrongSections'],
    ['carousel', 'cards', rows(10), null],
    ['carousel', 'cards', rows(11), 'wrongCards'],
    ['carousel', 'cards', 'mug-blue', 'wrongCards'],
  ] as const)('%s: %s %j', async (kind, name, text, problem) => {
    const [field] = OFFER_FIELDS[kind].filter((one) => one.name === name)
    const { answer } = await send(kind, { ...FILLED, [name]: text })
    expect([field && problemOf(field, text), answer.status]).toEqual([problem, problem === null ? 200 : 400])
  })
})
