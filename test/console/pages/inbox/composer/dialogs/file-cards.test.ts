import { describe, expect, it } from 'vitest'
import {
  CARD_ACTIONS,
  type CardAction,
  type FileCard,
  fieldsOfCard,
  NO_CARD,
} from '../../../../../../console/src/pages/inbox/composer/dialogs/file-cards.js'
import {
  NO_VALUES,
  problemsOf,
  toContent,
  toInteractive,
} from '../../../../../../console/src/pages/inbox/composer/dialogs/offers.js'
import { startSendWorld } from '../../../../../support/send-chat.js'
import { useStarted } from '../../../../../support/started.js'

const house = useStarted(startSendWorld)

const BLUE: FileCard = {
  kind: 'image',
  file: ' https://files.example/blue.jpg ',
  body: 'Blue\nas the sea\nin May',
  display_text: 'Buy',
  url: 'https://shop.example/blue',
  first: 'Blue',
  second: 'More',
  third: 'None',
}
const RED: FileCard = { ...BLUE, kind: 'video', file: 'https://files.example/red.mp4', body: '' }

/** What the API says of these cards, what the page finds wrong, and what the conversation shows. */
const send = async (action: CardAction, cards: FileCard[]) => {
  const values = { ...NO_VALUES, body: 'Which one?', fileCards: { action, cards } }
  const phone_number = await house.newContact()
  const content = toContent('file_carousel', values)
  const answer = await house.send({ phone_number, message_type: 'interactive', interactive: toInteractive(content) })
  return { answer, problems: problemsOf('file_carousel', values), content, shown: () => house.shown(phone_number) }
}

describe.each(CARD_ACTIONS)('cards with files whose buttons are: %s', (action) => {
  it.each([
    ['2 cards', [BLUE, RED]],
    ['10 cards', Array.from({ length: 10 }, () => BLUE)],
  ])('are sent, and shown as before they were recorded: %s', async (_, cards) => {
    const { answer, problems, content, shown } = await send(action, cards)
    expect([answer.status, problems], JSON.stringify(answer.body)).toEqual([200, []])
    const [message] = await shown()
    expect(message.content).toEqual(content)
  })

  it('take as much in each field as the API', async () => {
    for (const { name, maxLength } of fieldsOfCard(action)) {
      const fill = (length: number) => [BLUE, { ...RED, [name]: RED[name].padEnd(length, 'x') }]
      const most = await send(action, fill(maxLength))
      const more = await send(action, fill(maxLength + 1))
      expect([name, most.answer.status, more.answer.status]).toEqual([name, 200, 400])
    }
  })

  it('are refused without a needed field, as by the API, which names the same one', async () => {
    for (const { name } of fieldsOfCard(action).filter(({ isNeeded }) => isNeeded)) {
      const { answer, problems } = await send(action, [BLUE, { ...RED, [name]: ' ' }])
      expect([name, answer.status, problems]).toEqual([name, 400, [[`fileCards.cards.1.${name}`, 'needed']]])
      expect(answer.body.message).toContain('cards[1]')
    }
  })
})

it('an answer tells by its id to which card it belongs', async () => {
  const { content } = await send('two', [BLUE, RED])
  expect(content).toMatchObject({
    cards: [
      { buttons: [{ id: 'card_1_button_1', title: 'Blue' }, { id: 'card_1_button_2' }] },
      { buttons: [{ id: 'card_2_button_1' }, { id: 'card_2_button_2', title: 'More' }] },
    ],
  })
})

it.each([
  ['body', 'one\ntwo\nthree\nfour', 'tooManyBreaks'],
  ['file', 'files.example/blue.jpg', 'needsLink'],
  ['url', 'javascript:alert(1)', 'needsLink'],
] as const)('is refused as by the API: %s %j', async (name, text, problem) => {
  const { answer, problems } = await send('link', [{ ...BLUE, [name]: text }, RED])
  expect([answer.status, problems]).toEqual([400, [[`fileCards.cards.0.${name}`, problem]]])
})

it.each([1, 11])('the API refuses %i cards, which the page does not let add or remove', async (count) => {
  const { answer } = await send(
    'link',
    Array.from({ length: count }, () => BLUE),
  )
  expect(answer.status).toBe(400)
})

it('a page that is opened anew has two empty cards', () => {
  expect(NO_VALUES.fileCards).toEqual({ action: 'link', cards: [NO_CARD, NO_CARD] })
})
