import { beforeAll, describe, expect, it } from 'vitest'
import { indexConversation } from '../../../src/core/conversations/search.js'
import { COUNT_LIMIT, MAX_DEPTH } from '../../../src/model/page.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages, readConversations, textsOf } from '../../support/conversations.js'
import { type RunPlan, watchPlans } from '../../support/plans.js'
import { useOrganization, useWorld } from '../../support/world.js'

const PERSON = '16505552001'
const LONG = 12_000

const world = useWorld()
const organization = useOrganization(world)
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  const id = await createContact(world, organization, `+${PERSON}`)
  const texts = Array.from({ length: LONG }, (_, index) => `pix ${index + 1}`)
  await insertMessages(world, id, ['boleto', ...texts])
  while ((await indexConversation(world.app.ctx, organization.id, id)) !== null);
  await world.database.pool.query('ANALYZE')
  explain = await watchPlans(world.database)
})

const search = (query: string, more: Record<string, string> = {}) =>
  readConversations(world, organization, { chatNumber: PERSON, query, limit: '50', ...more })

describe('a search for a common word', () => {
  it('counts its matches up to a limit', async () => {
    const { body } = await search('pix')
    expect(body.pagination).toMatchObject({ totalMessages: COUNT_LIMIT, hasNextPage: true })
  })

  it.each([
    ['newest first', 'false', (n: number) => LONG - n],
    ['oldest first', 'true', (n: number) => n + 1],
  ])('returns the first and the last page that it can, %s', async (_, ascending, numberOf) => {
    for (const page of [1, MAX_DEPTH / 50]) {
      const expected = Array.from({ length: 50 }, (_, index) => `pix ${numberOf((page - 1) * 50 + index)}`)
      expect(textsOf(await search('pix', { ascending, page: String(page) }))).toEqual(expected)
    }
  })

  it.each([MAX_DEPTH / 50 + 1, 10_000_000])('refuses page %i, which it may have', async (page) => {
    const { status, body } = await search('pix', { page: String(page) })
    expect([status, body.message]).toEqual([
      400,
      `page ${page} is too deep: the pages of this list reach its first 10000 items. Search for more of the text`,
    ])
  })

  it('reads no more messages than it counts, and than a page needs', async () => {
    const plans = await explain(async () => void (await search('pix')))
    const [counted, newest, ...others] = plans.map(({ rows }) => rows).sort((one, other) => other - one)
    expect(counted).toBeGreaterThan(COUNT_LIMIT - 1)
    expect(counted).toBeLessThanOrEqual(COUNT_LIMIT + 1)
    // The newest messages show whether the word is common.
    expect(newest).toBeLessThanOrEqual(2_000)
    for (const rows of others) expect(rows).toBeLessThan(200)
  })

  it('still counts all matches of a word below the limit', async () => {
    const { body } = await search('boleto', { ascending: 'true' })
    expect(body.pagination).toMatchObject({ totalMessages: 1 })
    expect((await search('boleto', { page: '10000' })).body).toMatchObject({ messages: [], count: 0 })
  })
})

describe('a search for one or two letters in a very long conversation', () => {
  const longPerson = '16505552002'
  const GAP = 300_000

  beforeAll(async () => {
    const id = await createContact(world, organization, `+${longPerson}`)
    await insertMessages(world, id, ['oi', 'boleto'])
    await indexConversation(world.app.ctx, organization.id, id)
    for (const statement of [
      'UPDATE messages SET seq = seq + $2 WHERE contact_id = $1',
      'UPDATE message_search SET seq = seq + $2 WHERE contact_id = $1 AND seq = 2',
      'UPDATE contacts SET last_seq = last_seq + $2, searchable_seq = searchable_seq + $2 WHERE id = $1',
    ]) {
      await world.database.pool.query(statement, [id, GAP])
    }
  })

  it('is refused if it would read all of it', async () => {
    const { status, body } = await readConversations(world, organization, {
      chatNumber: longPerson,
      query: 'oi,boleto',
    })
    expect([status, body.message]).toEqual([
      400,
      'the term "oi" is too short for a conversation of this length: search for three characters or more',
    ])
  })

  it('finds longer words', async () => {
    const { body } = await readConversations(world, organization, { chatNumber: longPerson, query: 'boleto' })
    expect(body.pagination.totalMessages).toBe(1)
  })
})
