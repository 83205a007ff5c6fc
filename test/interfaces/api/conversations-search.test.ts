import { describe, expect, it } from 'vitest'
import { setTranscription } from '../../../src/storage/messages/incoming-media.js'
import { receiveMessages, seconds, textMessage, type WireMessage, wamid } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages, readConversations, requestIndexes, textsOf } from '../../support/conversations.js'
import { requestAsDescribed } from '../../support/openapi.js'
import { messageIdOf } from '../../support/rows/messages.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
let people = 0

/** A person who wrote these texts. */
async function personWho(...texts: string[]): Promise<string> {
  const digits = newPerson()
  await insertMessages(world, await createContact(world, organization, `+${digits}`), texts)
  return digits
}

const newPerson = () => `1650557${String(++people).padStart(4, '0')}`

const search = (chatNumber: string, query: string, more: Record<string, string> = {}, owner = organization) =>
  readConversations({ request }, owner, { chatNumber, query, ascending: 'true', ...more })

const found = async (chatNumber: string, query: string) => textsOf(await search(chatNumber, query))

const take = (...messages: WireMessage[]) => receiveMessages(world, organization, ...messages)

describe('a search', () => {
  it('returns messages with any of the terms, newest first, and the terms', async () => {
    const person = await personWho('o pix chegou', 'obrigado', 'a nota fiscal', 'Pix e nota')
    const { status, body } = await search(person, ' pix ,,nota fiscal, ', { ascending: 'false' })
    expect(status).toBe(200)
    const { messages, ...rest } = body
    expect(messages.map(({ message }: { message: string }) => message)).toEqual([
      'Pix e nota',
      'a nota fiscal',
      'o pix chegou',
    ])
    expect(rest).toEqual({
      success: true,
      pagination: {
        currentPage: 1,
        totalPages: 1,
        totalMessages: 3,
        messagesPerPage: 10,
        hasNextPage: false,
        hasPrevPage: false,
      },
      count: 3,
      searchTerms: ['pix', 'nota fiscal'],
      filtered: true,
      stored: true,
    })
  })

  it.each(['', ',', ' , ,', '%09'])('is not a search without terms: query=%s', async (query) => {
    const person = await personWho('one', 'two')
    const path = `/conversations?chatNumber=${person}&query=${query}`
    const { body } = await request('GET', path, { key: organization.key })
    expect(body).toMatchObject({ count: 2, searchTerms: null, filtered: false })
  })

  it.each([
    ['ACAO', 'Ação'],
    ['ação', 'ACAO'],
    ['ac\u0327a\u0303o', 'ação'],
    ['cafe', 'CAFÉ com leite'],
    ['muller', 'Müller'],
    ['STRASSE', 'Hauptstraße 5'],
    ['straße', 'HAUPTSTRASSE'],
    ['smorrebrod', 'Smørrebrød'],
    ['istanbul', 'İSTANBUL'],
    ['ISTANBUL', 'ıstanbul'],
    ['οδος', 'ΟΔΌΣ'],
    ['ЁЛКА', 'ёлка'],
    ['pix 10', 'ｐｉｘ　１０'.replace('　', ' ')],
    ['😀', 'oi 😀'],
    ['한', '한국'.normalize('NFD')],
  ])('for %s finds %s', async (query, text) => {
    const person = await personWho('something else', text)
    expect(await found(person, query)).toEqual([text])
  })

  it.each([
    '100%',
    'a_b',
    'a.b',
    'a\\b',
    '\\',
    "o'neil",
    '"x"',
    '.*',
    '^',
    '$1',
    '(a',
    '[a',
    '{1}',
    'a|b',
    '?',
    '+55',
    '\\d',
  ])('treats %s literally, in read and in indexed messages', async (query) => {
    const person = await personWho('1000', 'axb', 'abc 1', 'aab', 'b', 'text', `so ${query}!`)
    expect(await found(person, query)).toEqual([`so ${query}!`])
    await indexed(person)
    expect(await found(person, query)).toEqual([`so ${query}!`])
  })

  it('matches parts of words, and not across messages', async () => {
    const person = await personWho('paralelepípedo', 'para', 'lelo')
    expect(await found(person, 'lelepi')).toEqual(['paralelepípedo'])
    expect(await found(person, 'paralelo')).toEqual([])
  })

  it('covers only this conversation and this organization', async () => {
    const person = await personWho('the secret word')
    const neighbour = await personWho('nothing')
    expect(await found(neighbour, 'secret')).toEqual([])
    const other = await world.createOrganization()
    expect((await search(person, 'secret', {}, other)).status).toBe(404)
    await createContact(world, other, `+${person}`)
    const answer = await search(person, 'secret', {}, other)
    expect(answer.body).toMatchObject({ count: 0, filtered: true, stored: false })
  })

  it('without results returns an empty page of a stored conversation', async () => {
    const person = await personWho('one')
    expect((await search(person, 'zzz')).body).toMatchObject({
      messages: [],
      pagination: { currentPage: 1, totalPages: 0, totalMessages: 0, hasNextPage: false, hasPrevPage: false },
      count: 0,
      searchTerms: ['zzz'],
      filtered: true,
      stored: true,
    })
  })

  it('of a contact without messages shows the conversation as not stored', async () => {
    const person = await personWho()
    expect((await search(person, 'zzz')).body).toMatchObject({ count: 0, filtered: true, stored: false })
  })

  it('has pages in either direction', async () => {
    const texts = Array.from({ length: 25 }, (_, number) => (number % 2 === 0 ? `yes ${number}` : `no ${number}`))
    const person = await personWho(...texts)
    const matching = texts.filter((text) => text.startsWith('yes'))
    const page = (number: number, ascending: boolean) =>
      search(person, 'yes', { limit: '5', page: String(number), ascending: String(ascending) })
    expect(textsOf(await page(1, true))).toEqual(matching.slice(0, 5))
    expect(textsOf(await page(3, true))).toEqual(matching.slice(10))
    expect(textsOf(await page(1, false))).toEqual(matching.slice(8).reverse())
    expect(textsOf(await page(3, false))).toEqual(matching.slice(0, 3).reverse())
    expect((await page(2, false)).body.pagination).toEqual({
      currentPage: 2,
      totalPages: 3,
      totalMessages: 13,
      messagesPerPage: 5,
      hasNextPage: true,
      hasPrevPage: true,
    })
    for (const number of [4, 10_000_000]) {
      expect((await page(number, true)).body).toMatchObject({
        messages: [],
        pagination: { currentPage: number, totalMessages: 13, hasNextPage: false, hasPrevPage: true },
      })
    }
  })

  it('accepts 20 terms of 200 characters, and no more', async () => {
    const person = await personWho('x'.repeat(300))
    const terms = Array.from({ length: 20 }, (_, number) => `${'y'.repeat(198)}${String(number).padStart(2, '0')}`)
    const wide = terms.map((term) => term.replaceAll('y', '😀'))
    for (const query of [[...terms.slice(1), 'x'.repeat(200)].join(','), ['x', ...wide.slice(1)].join(',')]) {
      const { status, body } = await search(person, query)
      expect([status, body.count]).toEqual([200, 1])
    }
    for (const [query, message] of [
      [[...terms, 'one'].join(','), 'query has 21 terms: at most 20 are allowed'],
      [`pix,${'é'.repeat(201)}`, 'query has a term of 201 characters, and each may have at most 200'],
      ['x'.repeat(10_001), 'query must'],
    ] as const) {
      const { status, body } = await search(person, query)
      expect([status, body.error]).toEqual([400, 'Invalid parameter'])
      expect(body.message).toContain(message)
    }
  })

  it('refuses terms that no message can contain, and a query given twice', async () => {
    const person = await personWho('one')
    for (const query of ['query=a%00b', 'query=a&query=b']) {
      const { status, body } = await request('GET', `/conversations?chatNumber=${person}&${query}`, {
        key: organization.key,
      })
      expect([status, body.error]).toEqual([400, 'Invalid parameter'])
      expect(body.message).toMatch(/^query /)
    }
  })
})

/** Indexes all messages so far, as the job does. */
async function indexed(chatNumber: string): Promise<void> {
  await requestIndexes(world, organization.id)
  await world.drain()
  const { rows } = await world.database.pool.query(
    'SELECT searchable_seq = last_seq AND last_seq > 0 AS "isIndexed" FROM contacts WHERE chat_id = $1',
    [chatNumber],
  )
  expect(rows).toEqual([{ isIndexed: true }])
}

describe('a search covers', () => {
  const image = { id: '1', mime_type: 'image/jpeg', sha256: 'x' }

  it.each([
    ['a caption', { type: 'image', image: { ...image, caption: 'Meu comprovante' } }, 'comprovante'],
    [
      'a location',
      { type: 'location', location: { latitude: 1, longitude: 2, name: 'Padaria', address: 'Rua São João' } },
      'rua sao joao',
    ],
    [
      'the names of contact cards',
      { type: 'contacts', contacts: [{ name: { formatted_name: 'Zoë Müller' } }] },
      'zoe m',
    ],
    [
      'the title of a chosen reply',
      {
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply: { id: 'b1', title: 'Não, obrigado' } },
      },
      'nao',
    ],
    [
      'the title of a chosen row',
      { type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: 'r1', title: 'Frete grátis' } } },
      'GRATIS',
    ],
    ["a template button's text", { type: 'button', button: { text: 'Já paguei', payload: 'paid' } }, 'ja paguei'],
  ])('%s', async (_name, fields, query) => {
    const from = newPerson()
    await take(textMessage(from, 'x'), { from, id: wamid(), timestamp: seconds(), ...fields })
    expect((await search(from, query)).body.count).toBe(1)
    await indexed(from)
    expect((await search(from, query)).body.count).toBe(1)
  })

  it('the body of a sent interactive message', async () => {
    const person = await personWho()
    const interactive = { type: 'button', body: 'Confirma o endereço?', buttons: [{ id: 'y', title: 'Sim' }] }
    const body = { phone_number: person, message_type: 'interactive', interactive }
    const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
    expect(sent.status, JSON.stringify(sent.body)).toBe(200)
    expect(await found(person, 'endereco')).toEqual(['Confirma o endereço?'])
  })

  it('a transcription', async () => {
    const from = newPerson()
    const note = { from, id: wamid(), timestamp: seconds(), type: 'audio', audio: { id: '1', voice: true } }
    await take(note)
    await indexed(from)
    const id = await messageIdOf(world, String(note.id))
    expect((await search(from, 'amanha')).body.count).toBe(0)
    await world.database.transaction((transaction) =>
      setTranscription(transaction, organization.id, id, 'Chego amanhã cedo'),
    )
    expect((await search(from, 'amanha')).body.messages).toMatchObject([
      { id, message: '', voice_note_transcription: 'Chego amanhã cedo' },
    ])
  })

  it.each([
    ['read', false],
    ['indexed', true],
  ])('the text after an edit, and nothing after a revocation (%s)', async (_name, isIndexed) => {
    const from = newPerson()
    const original = textMessage(from, 'primeiro')
    await take(original, textMessage(from, 'outro'))
    if (isIndexed) await indexed(from)
    const original_message_id = original.id
    const change = {
      from,
      type: 'edit',
      edit: { original_message_id, message: { type: 'text', text: { body: 'Segundo' } } },
    }
    await take({ ...change, id: wamid(), timestamp: seconds(5) })
    expect(await found(from, 'primeiro')).toEqual([])
    expect(await found(from, 'segundo')).toEqual(['Segundo'])
    await take({ from, id: wamid(), timestamp: seconds(9), type: 'revoke', revoke: { original_message_id } })
    expect(await found(from, 'segundo')).toEqual([])
    expect((await search(from, 'outro,segundo')).body).toMatchObject({ count: 1, stored: true })
  })

  it('neither the emoji of a reaction nor the record of an edit', async () => {
    const from = newPerson()
    const original = textMessage(from, 'nice')
    const reaction = { message_id: original.id, emoji: '🎉' }
    await take(original, { from, id: wamid(), timestamp: seconds(1), type: 'reaction', reaction })
    expect(await found(from, '🎉')).toEqual([])
  })
})
