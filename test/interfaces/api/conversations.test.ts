import { beforeAll, describe, expect, it } from 'vitest'
import { post, receiveMessages, seconds, textMessage } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { readConversations, textsOf } from '../../support/conversations.js'
import { requestAsDescribed } from '../../support/openapi.js'
import { useOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '5511999990001'
const TOTAL = 25

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)

beforeAll(async () => {
  await createContact(world, organization, `+${CUSTOMER}`, { full_name: 'Ada' })
  const messages = Array.from({ length: TOTAL }, (_, index) => textMessage(CUSTOMER, String(index + 1)))
  await post(world, organization, { messages })
  await world.drain()
})

const read = (query: Record<string, string>) => readConversations({ request }, organization, query)

function range(from: number, to: number): string[] {
  const step = from <= to ? 1 : -1
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => String(from + index * step))
}

describe('the pages of a conversation', () => {
  it('are the 10 newest messages, newest first, by default', async () => {
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

  it('contain exactly these fields of a message', async () => {
    const { body } = await read({ chatNumber: CUSTOMER, limit: '1' })
    expect(body.messages).toEqual([
      {
        message: '25',
        sender_type: 'user-chat',
        created_at: '2025-06-15T15:06:40.000Z',
        message_status: 'delivered',
        media_type: null,
        media_url: null,
        content: null,
        assignee: null,
        voice_note_transcription: null,
        reactions: [],
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        message_id: expect.stringMatching(/^wamid\./),
        message_type: 'text',
        context_message_id: null,
        error: null,
        outcome: null,
        business_number: { phone_number_id: organization.phoneNumberId, phone_number: null },
      },
    ])
  })

  it.each([
    ['10', '1', range(25, 16), { hasNextPage: true, hasPrevPage: false, totalPages: 3 }],
    ['10', '2', range(15, 6), { hasNextPage: true, hasPrevPage: true, totalPages: 3 }],
    ['10', '3', range(5, 1), { hasNextPage: false, hasPrevPage: true, totalPages: 3 }],
    ['10', '4', [], { hasNextPage: false, hasPrevPage: true, totalPages: 3 }],
    ['10', '10000000', [], { hasNextPage: false, hasPrevPage: true, totalPages: 3 }],
    ['5', '5', range(5, 1), { hasNextPage: false, hasPrevPage: true, totalPages: 5 }],
    ['25', '1', range(25, 1), { hasNextPage: false, hasPrevPage: false, totalPages: 1 }],
    ['100', '1', range(25, 1), { hasNextPage: false, hasPrevPage: false, totalPages: 1 }],
    ['1', '25', ['1'], { hasNextPage: false, hasPrevPage: true, totalPages: 25 }],
    ['24', '2', ['1'], { hasNextPage: false, hasPrevPage: true, totalPages: 2 }],
  ])('are right with limit %s, page %s', async (limit, page, expected, pages) => {
    const answer = await read({ chatNumber: CUSTOMER, limit, page })
    expect(textsOf(answer)).toEqual(expected)
    expect(answer.body).toMatchObject({
      count: expected.length,
      stored: true,
      pagination: {
        currentPage: Number(page),
        totalMessages: TOTAL,
        messagesPerPage: Number(limit),
        ...pages,
      },
    })
  })

  it.each([
    ['10', '1', range(1, 10)],
    ['10', '3', range(21, 25)],
    ['10', '4', []],
    ['100', '1', range(1, 25)],
  ])('are right ascending with limit %s, page %s', async (limit, page, expected) => {
    expect(textsOf(await read({ chatNumber: CUSTOMER, limit, page, ascending: 'true' }))).toEqual(expected)
  })

  it('are newest first with ascending false', async () => {
    expect(textsOf(await read({ chatNumber: CUSTOMER, ascending: 'false', limit: '2' }))).toEqual(['25', '24'])
  })

  it('are returned for the action by name, and tenantId', async () => {
    const query = { action: 'conversation-messages', chatNumber: CUSTOMER, tenantId: organization.slug }
    expect((await read(query)).status).toBe(200)
  })

  it('of a contact without messages are empty and not stored', async () => {
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

  it('are in the order of recording, not of the times of the upstream', async () => {
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

  it('do not shift in ascending order while messages arrive', async () => {
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
