import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveContact } from '../../../src/core/contacts/resolution/resolve-contact.js'
import { indexConversation } from '../../../src/core/conversations/search.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages, readConversations, textsOf } from '../../support/conversations.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let people = 0

interface Conversation {
  digits: string
  id: string
}

async function newConversation(texts: readonly string[]): Promise<Conversation> {
  const digits = `1650559${String(++people).padStart(4, '0')}`
  const id = await createContact(world, organization, `+${digits}`)
  await insertMessages(world, id, texts)
  return { digits, id }
}

/** The texts before the paging starts; every third one is searched for. */
const saidBefore = (count: number) =>
  Array.from({ length: count }, (_, index) => `${index % 3 === 0 ? 'wanted' : 'other'} before ${index + 1}`)

type Write = 'send' | 'receive' | 'merge' | 'index'

async function write({ digits, id }: Conversation, kind: Write, name: string): Promise<void> {
  const text = `wanted ${name}`
  switch (kind) {
    case 'send': {
      const body = { phone_number: digits, message_type: 'text', text }
      const { status } = await world.request('POST', '/send-chat', { key: organization.key, body })
      expect(status).toBe(200)
      break
    }
    case 'receive':
      return receiveMessages(world, organization, textMessage(digits, text))
    case 'index':
      await indexConversation(world.app.ctx, organization.id, id)
      break
    case 'merge':
      return mergeSomebody(digits, [`${text} a`, `other ${name} b`, `${text} c`])
  }
}

/** A person known only by a user id, with these texts, turns out to be this person. */
async function mergeSomebody(digits: string, texts: readonly string[]): Promise<void> {
  const { ctx } = world.app
  const userId = `US.${newId()}`
  // Each user id belongs to another business, so they do not contradict each other.
  const hearing = { at: new Date(), instanceId: newId() }
  await resolveContact(ctx, organization.id, { waId: null, userId }, hearing)
  const { rows } = await world.database.pool.query(
    'SELECT contact_id AS id FROM contact_addresses WHERE address = $1',
    [`user:${userId}`],
  )
  await insertMessages(world, rows[0].id, texts)
  await indexConversation(ctx, organization.id, rows[0].id)
  await resolveContact(ctx, organization.id, { waId: digits, userId }, hearing)
}

/** All pages, oldest first. */
async function readAll(chatNumber: string, limit: number, more: Record<string, string>): Promise<string[]> {
  const seen: string[] = []
  for (let page = 1; ; page++) {
    const query = { chatNumber, limit: String(limit), page: String(page), ascending: 'true', ...more }
    const answer = await readConversations(world, organization, query)
    expect(answer.status).toBe(200)
    const { pagination, count } = answer.body
    seen.push(...textsOf(answer))
    expect(count).toBe(Math.max(0, Math.min(limit, pagination.totalMessages - (page - 1) * limit)))
    if (!pagination.hasNextPage) return seen
  }
}

/** The final messages, by SQL. */
async function textsInOrder(id: string): Promise<string[]> {
  const { rows } = await world.database.pool.query(
    'SELECT text FROM messages WHERE contact_id = $1 AND seq > 0 ORDER BY seq',
    [id],
  )
  return rows.map(({ text }) => text)
}

const kinds = fc.constantFrom<Write>('send', 'receive', 'merge', 'index')
/** Concurrent writers, each with sequential writes. */
const writers = fc.array(fc.array(kinds, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 4 })

describe('paging from the oldest message during writes returns each message once', () => {
  it.each([
    ['one by one', 1, {}],
    ['seven by seven', 7, {}],
    ['a hundred by a hundred', 100, {}],
    ['one by one of a search', 1, { query: 'wanted' }],
    ['seven by seven of a search', 7, { query: 'WANTED' }],
    ['a hundred by a hundred of a search', 100, { query: 'wänted,nothing' }],
  ] as const)('%s', async (_name, limit, more) => {
    await fc.assert(
      fc.asyncProperty(writers, fc.boolean(), async (plans, isIndexed) => {
        const before = saidBefore(limit === 1 ? 20 : limit * 3 + 1)
        const conversation = await newConversation(before)
        if (isIndexed) await indexConversation(world.app.ctx, organization.id, conversation.id)
        const writing = plans.map(async (plan, writer) => {
          for (const [turn, kind] of plan.entries()) await write(conversation, kind, `${writer}.${turn}`)
        })
        const reading = [readAll(conversation.digits, limit, more), readAll(conversation.digits, limit, more)]
        const [one, other] = await Promise.all(reading)
        await Promise.all(writing)

        const isWanted = (text: string) => !('query' in more) || text.startsWith('wanted')
        const all = (await textsInOrder(conversation.id)).filter(isWanted)
        expect(all.slice(0, before.filter(isWanted).length)).toEqual(before.filter(isWanted))
        for (const seen of [one, other]) {
          // The pages are a prefix of the final messages, and contain at least the messages from before.
          expect(seen).toEqual(all.slice(0, seen?.length))
          expect(seen?.length).toBeGreaterThanOrEqual(before.filter(isWanted).length)
        }
        expect(await readAll(conversation.digits, limit, more)).toEqual(all)
      }),
      { seed: 6, numRuns: 6 },
    )
  })
})
