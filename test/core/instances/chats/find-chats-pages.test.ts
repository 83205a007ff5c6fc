import { beforeAll, expect, it } from 'vitest'
import { createInstance, type TestInstance } from '../../../support/instances.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const CHATS = 2_500
/** One after the other, so that a page is found among this many times as many messages. */
const MESSAGES_EACH = 20
const LIMIT = 50
const PAGES = CHATS / LIMIT
const MIDDLE = PAGES / 2

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let phone: TestInstance
let otherPhone: TestInstance

beforeAll(async () => {
  phone = await fill(organization)
  otherPhone = await fill(other)
  await world.database.pool.query('VACUUM ANALYZE contacts, messages')
})

async function fill(owner: TestOrganization): Promise<TestInstance> {
  const instance = await createInstance(world, owner, { instanceName: 'phone', integration: 'SANDBOX' })
  await world.database.pool.query(
    `WITH made AS (
       INSERT INTO contacts (organization_id, id, chat_id, last_seq)
       SELECT $1, gen_random_uuid(), (5511900000000 + n)::text, $4::int FROM generate_series(1, $3::int) n
       RETURNING organization_id, id, chat_id
     )
     INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, created_at,
       gateway_type, instance_id)
     SELECT organization_id, gen_random_uuid(), id, seq, 'user-chat', 'text', 'x', 'delivered',
       '2020-01-01'::timestamptz + (chat_id::bigint % 10000 * $4 + seq) * interval '1 second', 'conversation', $2
     FROM made, generate_series(1, $4::int) seq`,
    [owner.id, instance.id, CHATS, MESSAGES_EACH],
  )
  return instance
}

async function chatsOf(page: number, { key } = organization, where: object = {}): Promise<string[]> {
  const body = { where, take: LIMIT, skip: (page - 1) * LIMIT }
  const { status, body: chats } = await world.request('POST', '/gateway/chat/findChats/phone', { key, body })
  expect(status).toBe(200)
  return chats.map(({ id }: { id: string }) => id)
}

async function contactsOf(page: number, { token } = phone): Promise<string[]> {
  const body = { offset: LIMIT, page }
  const { status, body: contacts } = await world.request('POST', '/gateway/chat/findContacts/phone', {
    key: token,
    body,
  })
  expect(status).toBe(200)
  return contacts.map(({ id }: { id: string }) => id)
}

async function expectedPage(page: number, { id } = organization): Promise<string[]> {
  const { rows } = await world.database.pool.query(
    `SELECT contact_id AS id FROM messages WHERE organization_id = $1 GROUP BY contact_id
     ORDER BY max(created_at) DESC OFFSET $2 LIMIT $3`,
    [id, (page - 1) * LIMIT, LIMIT],
  )
  return rows.map((row) => row.id)
}

/** The chat that was active longest ago becomes the newest. */
async function wakeOldest(): Promise<void> {
  await world.database.pool.query(
    `UPDATE messages SET created_at = now() WHERE organization_id = $1 AND id = (
       SELECT id FROM messages WHERE organization_id = $1 AND seq = $2 ORDER BY created_at LIMIT 1
     )`,
    [organization.id, MESSAGES_EACH],
  )
}

it('every page holds the chats of its place, of this organization', async () => {
  for (const [owner, instance] of [
    [organization, phone],
    [other, otherPhone],
  ] as const) {
    for (const page of [1, 20, 21, MIDDLE, MIDDLE + 1, PAGES, PAGES + 1]) {
      const expected = await expectedPage(page, owner)
      expect([page, await chatsOf(page, owner)]).toEqual([page, expected])
      expect([page, await contactsOf(page, instance)]).toEqual([page, expected])
    }
  }
})

it('pages of chats in a range of time hold those of the range', async () => {
  const [newest] = await expectedPage(PAGES / 2 + 1)
  const { rows } = await world.database.pool.query('SELECT max(created_at) AS at FROM messages WHERE contact_id = $1', [
    newest,
  ])
  const where = { messageTimestamp: { lte: rows[0].at.toISOString() } }
  expect(await chatsOf(21)).toEqual(await expectedPage(21))
  expect(await chatsOf(21, organization, where)).toEqual(await expectedPage(21 + PAGES / 2))
  expect(await chatsOf(PAGES / 2 + 1, organization, where)).toEqual([])
})

it('a chat that becomes active moves all pages at once', async () => {
  await chatsOf(MIDDLE)
  await wakeOldest()
  for (const page of [1, MIDDLE, PAGES]) {
    expect(await chatsOf(page)).toEqual(await expectedPage(page))
    expect(await contactsOf(page)).toEqual(await expectedPage(page))
  }
})
