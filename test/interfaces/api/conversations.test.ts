import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'
import { createContact, post, receiveMessages, seconds, textMessage } from '../hooks/support.js'

const CUSTOMER = '5511999990001'
const TOTAL = 25

let world: World
let organization: TestOrganization
let contactId: string

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
  contactId = await createContact(world, organization, `+${CUSTOMER}`, { full_name: 'Ada' })
  const messages = Array.from({ length: TOTAL }, (_, index) => textMessage(CUSTOMER, String(index + 1)))
  await post(world, organization, { messages })
  await world.drain()
})

afterAll(() => world.close())

const read = (query: Record<string, string>, key = organization.key) =>
  world.request('GET', `/conversations?${new URLSearchParams(query)}`, { key })

function textsOf(answer: { body: { messages: { message: string }[] } }): string[] {
  return answer.body.messages.map((message) => message.message)
}

function range(from: number, to: number): string[] {
  const step = from <= to ? 1 : -1
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => String(from + index * step))
}

describe('GET /conversations, 200', () => {
  it('shows the 10 newest, newest first, where nothing else is asked', async () => {
    const answer = await read({ chatNumber: CUSTOMER })
    expect(answer.status).toBe(200)
    expect(textsOf(answer)).toEqual(range(25, 16))
    const { messages: _, ...rest } = answer.body
    expect(rest).toEqual({
      success: true,
      pagination: {
        currentPage: 1,
        totalPages: 3,
        totalMessages: TOTAL,
        messagesPerPage: 10,
        hasNextPage: true,
        hasPrevPage: false,
      },
      count: 10,
      searchTerms: null,
      filtered: false,
      stored: true,
    })
  })

  it('shows of a message exactly the fields of the contract', async () => {
    const { body } = await read({ chatNumber: CUSTOMER, limit: '1' })
    expect(body.messages).toEqual([
      {
        message: '25',
        sender_type: 'user-chat',
        created_at: '2025-06-15T15:06:40.000Z',
        message_status: 'delivered',
        media_type: null,
        media_url: null,
        assignee: null,
        voice_note_transcription: null,
        reactions: [],
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        message_id: expect.stringMatching(/^wamid\./),
        message_type: 'text',
        context_message_id: null,
        error: null,
        outcome: null,
      },
    ])
  })

  it.each([
    ['10', '1', range(25, 16), true, false, 3],
    ['10', '2', range(15, 6), true, true, 3],
    ['10', '3', range(5, 1), false, true, 3],
    ['10', '4', [], false, true, 3],
    ['10', '10000000', [], false, true, 3],
    ['5', '5', range(5, 1), false, true, 5],
    ['25', '1', range(25, 1), false, false, 1],
    ['100', '1', range(25, 1), false, false, 1],
    ['1', '25', ['1'], false, true, 25],
    ['24', '2', ['1'], false, true, 2],
  ])('limit %s, page %s', async (limit, page, expected, hasNextPage, hasPrevPage, totalPages) => {
    const answer = await read({ chatNumber: CUSTOMER, limit, page })
    expect(textsOf(answer)).toEqual(expected)
    expect(answer.body).toMatchObject({
      count: expected.length,
      stored: true,
      pagination: {
        currentPage: Number(page),
        totalPages,
        totalMessages: TOTAL,
        messagesPerPage: Number(limit),
        hasNextPage,
        hasPrevPage,
      },
    })
  })

  it.each([
    ['10', '1', range(1, 10)],
    ['10', '3', range(21, 25)],
    ['10', '4', []],
    ['100', '1', range(1, 25)],
  ])('ascending, limit %s, page %s', async (limit, page, expected) => {
    expect(textsOf(await read({ chatNumber: CUSTOMER, limit, page, ascending: 'true' }))).toEqual(expected)
  })

  it('is newest first with ascending false', async () => {
    expect(textsOf(await read({ chatNumber: CUSTOMER, ascending: 'false', limit: '2' }))).toEqual(['25', '24'])
  })

  it.each([
    ['+5511999990001'],
    ['+55 (11) 99999-0001'],
    ['5511999990001'],
    ['00 55 11 99999 0001'],
    ['011 99999-0001'],
    ['11999990001'],
    ['551199990001'],
  ])('finds the contact by %s', async (chatNumber) => {
    expect((await read({ chatNumber })).body.pagination.totalMessages).toBe(TOTAL)
  })

  it('finds the contact by its id, and by both where they are one', async () => {
    expect((await read({ contactId })).body.count).toBe(10)
    expect((await read({ contactId: contactId.toUpperCase() })).body.count).toBe(10)
    expect((await read({ contactId, chatNumber: `+${CUSTOMER}` })).body.count).toBe(10)
  })

  it('takes the action by its name, and tenantId', async () => {
    const query = { action: 'conversation-messages', chatNumber: CUSTOMER, tenantId: organization.slug }
    expect((await read(query)).status).toBe(200)
  })

  it('of a contact without messages is empty and not stored', async () => {
    await createContact(world, organization, '+5511999990002')
    const queries: Record<string, string>[] = [{}, { page: '7' }, { ascending: 'true' }]
    for (const query of queries) {
      const { status, body } = await read({ chatNumber: '5511999990002', ...query })
      expect(status).toBe(200)
      expect(body).toMatchObject({
        messages: [],
        count: 0,
        stored: false,
        pagination: { totalPages: 0, totalMessages: 0, hasNextPage: false, hasPrevPage: false },
      })
    }
  })

  it('is ordered by recording, whatever the times of the upstream', async () => {
    const from = '5511999990003'
    const [late, early] = [
      textMessage(from, 'first', { timestamp: seconds(100) }),
      textMessage(from, 'second', { timestamp: seconds(-100) }),
    ]
    await receiveMessages(world, organization, late, early)
    const { body } = await read({ chatNumber: from, ascending: 'true' })
    expect(body.messages.map((message: { message: string }) => message.message)).toEqual(['first', 'second'])
    expect(body.messages[1].created_at).toBe('2025-06-15T15:05:00.000Z')
  })

  it('stands still, ascending, while messages come', async () => {
    const from = '5511999990004'
    const more = (count: number) =>
      receiveMessages(world, organization, ...range(1, count).map((t) => textMessage(from, t)))
    await more(12)
    const query = { chatNumber: from, limit: '5', ascending: 'true' }
    const before = await Promise.all(['1', '2'].map((page) => read({ ...query, page })))
    await more(9)
    const after = await Promise.all(['1', '2'].map((page) => read({ ...query, page })))
    expect(after.map((page) => page.body.messages)).toEqual(before.map((page) => page.body.messages))
    expect((await read({ ...query, page: '3' })).body.count).toBe(5)
  })
})

describe('GET /conversations, 400', () => {
  it('names what is missing', async () => {
    const queries: Record<string, string>[] = [{}, { action: 'conversation-messages' }, { page: '2' }]
    for (const query of queries) {
      const { status, body } = await read(query)
      expect(status).toBe(400)
      expect(body).toMatchObject({ success: false, error: 'Missing required parameter' })
      expect(body.message).toContain('chatNumber')
    }
  })

  it.each([
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', 'ten'],
    ['limit', ''],
    ['limit', '1e1'],
    ['page', '0'],
    ['page', '-1'],
    ['page', '10000001'],
    ['page', '99999999999999999999'],
    ['page', 'NaN'],
    ['ascending', 'yes'],
    ['ascending', '1'],
    ['ascending', 'TRUE'],
    ['action', 'nonsense'],
    ['contactId', 'not-a-uuid'],
    ['contactId', `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(13)}`],
    ['chatNumber', '12'],
    ['chatNumber', 'Ada'],
    ['chatNumber', ''],
    ['chatNumber', '9'.repeat(101)],
    ['chatNumber', '5511\x00999990001'],
  ])('%s=%s', async (name, value) => {
    const { status, body } = await read({ chatNumber: CUSTOMER, [name]: value })
    expect(status).toBe(400)
    expect(body).toMatchObject({ success: false, error: 'Invalid parameter' })
    expect(body.message).toMatch(new RegExp(`^${name} `))
  })

  it('names the range', async () => {
    expect((await read({ chatNumber: CUSTOMER, limit: '101' })).body.message).toContain('from 1 to 100')
  })

  it('refuses a parameter given twice', async () => {
    const path = `/conversations?chatNumber=${CUSTOMER}&limit=5&limit=6`
    const { status, body } = await world.request('GET', path, { key: organization.key })
    expect([status, body.error]).toEqual([400, 'Invalid parameter'])
  })

  it('refuses a number and an id of two contacts', async () => {
    await createContact(world, organization, '+5511999990005')
    const { status, body } = await read({ contactId, chatNumber: '5511999990005' })
    expect([status, body.error]).toEqual([400, 'Invalid parameter'])
  })
})

describe('GET /conversations, 404', () => {
  it('for a number and an id that nobody has', async () => {
    const queries: Record<string, string>[] = [
      { chatNumber: '5511999990099' },
      { contactId: '01a1fbdb-f2f0-727b-b64b-643e13b34149' },
    ]
    for (const query of queries) {
      const { status, body } = await read(query)
      expect(status).toBe(404)
      expect(body).toMatchObject({ success: false, error: 'Contact not found' })
      expect(body.message).toContain(Object.values(query)[0])
    }
  })

  it('for a contact of another organization', async () => {
    const other = await world.createOrganization()
    expect((await read({ contactId }, other.key)).status).toBe(404)
    expect((await read({ chatNumber: CUSTOMER }, other.key)).status).toBe(404)
    await createContact(world, other, `+${CUSTOMER}`)
    expect((await read({ chatNumber: CUSTOMER }, other.key)).body).toMatchObject({ count: 0, stored: false })
    expect((await read({ chatNumber: CUSTOMER, contactId }, other.key)).status).toBe(400)
  })
})

describe('GET /conversations, 401 and 403', () => {
  it('asks for the bearer token', async () => {
    const { status, body } = await world.request('GET', `/conversations?chatNumber=${CUSTOMER}`)
    expect(status).toBe(401)
    expect(body).toMatchObject({ success: false, error: 'Authorization required' })
  })

  it('wants the scope', async () => {
    const path = `/organizations/${organization.id}/keys`
    const issued = await world.admin('POST', path, { name: 'sender', scopes: ['messages:send'] })
    const { status, body } = await read({ chatNumber: CUSTOMER }, issued.body.api_key.key)
    expect([status, body.error]).toEqual([403, 'Insufficient scope'])
  })
})
