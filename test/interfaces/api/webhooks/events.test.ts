import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { type Held, hold, untilWaiting } from '../../../support/locks.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { eventsOf } from '../../../support/rows/events.js'
import { setWebhook } from '../../../support/webhooks.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
let organization: TestOrganization
let other: TestOrganization
const holding: Held[] = []

beforeEach(async () => {
  organization = await world.createOrganization()
  other = await world.createOrganization()
})

afterEach(async () => {
  for (const held of holding.splice(0)) await held.release()
})

interface Shown {
  id: string
  type: string
  timestamp: string
  data: { contact: { chat_id: string; full_name: string | null } }
}

const read = (query = '', key = organization.key) => request('GET', `/events${query}`, { key })

interface Page {
  events: Shown[]
  /** The position at the end of the feed. */
  next: string
}

async function page(after: string | null, query = ''): Promise<Page> {
  const { status, body } = await read(`?${after === null ? '' : `after=${after}&`}${query}`)
  expect(status).toBe(200)
  return { events: body.events, next: body.next_after }
}

/** All events from a position on, in pages of this size. */
async function readOn(after: string | null, limit = 100): Promise<Shown[]> {
  const all: Shown[] = []
  for (let position = after; ; ) {
    const { events, next } = await page(position, `limit=${limit}`)
    all.push(...events)
    if (events.length < limit) return all
    position = next
  }
}

/** A position with the name of a history. */
const encode = (position: string, history = '0123456789ab') =>
  Buffer.from(`${position}/${history}`).toString('base64url')
/** The history of this database. */
const history = async () => (await world.database.pool.query('SELECT id FROM event_histories')).rows[0].id

const names = (events: readonly Shown[]) => events.map(({ type, data }) => `${type} ${data.contact.full_name}`)

let made = 0
const newNumber = () => `55119876${String(60_000 + ++made)}`

/** Makes a contact of this name; resolves to its number. */
async function make(full_name: string, owner = organization): Promise<string> {
  const number = newNumber()
  await createContact(world, owner, `+${number}`, { full_name })
  return number
}

const rename = (number: string, full_name: string) =>
  world.request('PATCH', `/contact?chat_id=${number}`, { key: organization.key, body: { full_name } })

/** Starts a transaction that raises an event, and leaves it open. */
async function beginEvent(full_name: string): Promise<Held> {
  const held = await hold(
    world.database,
    `INSERT INTO events (organization_id, id, type, data)
     SELECT organization_id, gen_random_uuid(), 'contact.created',
       jsonb_set(data, '{contact,full_name}', to_jsonb($2::text))
     FROM events WHERE organization_id = $1 LIMIT 1`,
    [organization.id, full_name],
  )
  holding.push(held)
  return held
}

describe('GET /events', () => {
  it('returns 200 with the events as they are posted, oldest first', async () => {
    const number = await make('Ana')
    await rename(number, 'Ana Maria')
    const { status, body } = await read()
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['success', 'events', 'next_after'])
    expect(names(body.events)).toEqual(['contact.created Ana', 'contact.updated Ana Maria'])
    expect(Object.keys(body.events[0])).toEqual(['id', 'type', 'timestamp', 'data'])
    const events = await eventsOf(world, organization)
    expect(body.events.map(({ id }: Shown) => id)).toEqual(events.map(({ id }) => id))
    const shown = await request('GET', `/contact?chat_id=${number}`, { key: organization.key })
    expect(body.events[1].data).toEqual({ contact: shown.body.contact })
  })

  it('passes over many events of other types, page by page, and then finds the next of the wanted', async () => {
    await make('Ana')
    await make('Olga', other)
    const raise = (owner: TestOrganization, type: string, count: number) =>
      world.database.pool.query(
        `INSERT INTO events (organization_id, id, type, data)
         SELECT $1, gen_random_uuid(), $2, jsonb_set(data, '{contact}', data -> 'contact' || '{"opt_out_source": "reply", "opted_out_at": "2026-01-02T03:04:05Z"}')
         FROM (SELECT data FROM events WHERE organization_id = $1 LIMIT 1) first, generate_series(1, $3)`,
        [owner.id, type, count],
      )
    await raise(organization, 'contact.updated', 15_000)
    await raise(other, 'contact.opted_out', 1)
    await raise(organization, 'contact.opted_out', 1)
    const first = await page(null, 'types=contact.opted_out')
    expect(first.events).toEqual([])
    const second = await page(first.next, 'types=contact.opted_out')
    expect(names(second.events)).toEqual(['contact.opted_out Ana'])
    expect((await page(second.next, 'types=contact.opted_out')).events).toEqual([])
    // The same position, another filter: nothing was skipped for good.
    expect((await page(first.next, 'limit=1000')).events).toHaveLength(1_000)
    expect((await page(second.next)).events).toEqual([])
    // Within the window that the first page opened, and after it.
    await raise(organization, 'contact.opted_out', 1)
    expect((await page(first.next, 'types=contact.opted_out')).events).toHaveLength(2)
  })

  it('returns an empty page without events, and continues from there', async () => {
    const start = await page(null)
    expect(start.events).toEqual([])
    await make('Ana')
    expect(names(await readOn(start.next))).toEqual(['contact.created Ana'])
  })

  it('starts a page where the previous one ends, and returns the same page if asked again', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name)
    const first = await page(null, 'limit=2')
    expect(names(first.events)).toEqual(['contact.created a', 'contact.created b'])
    const second = await page(first.next, 'limit=2')
    expect(names(second.events)).toEqual(['contact.created c', 'contact.created d'])
    expect(await page(first.next, 'limit=2')).toEqual(second)
    const last = await page(second.next, 'limit=2')
    expect(names(last.events)).toEqual(['contact.created e'])
    expect((await page(last.next)).events).toEqual([])
  })

  it('adds new events after those of the current page', async () => {
    for (const name of ['a', 'b', 'c']) await make(name)
    const first = await page(null, 'limit=2')
    for (const name of ['d', 'e', 'f']) await make(name)
    const second = await page(first.next, 'limit=3')
    expect(names(second.events)).toEqual(['contact.created c', 'contact.created d', 'contact.created e'])
    expect(names(await readOn(second.next, 1))).toEqual(['contact.created f'])
  })

  it('returns only the position for latest, and later events from there', async () => {
    await make('before')
    const { events, next } = await page('latest')
    expect(events).toEqual([])
    await make('after')
    expect(names(await readOn(next))).toEqual(['contact.created after'])
  })

  it('filters by kind, with pages of the same positions', async () => {
    const number = await make('Ana')
    await rename(number, 'Bia')
    await make('Clara')
    const wanted = await page(null, 'types=contact.created,%20message.sent&limit=1')
    expect(names(wanted.events)).toEqual(['contact.created Ana'])
    const rest = await page(wanted.next, 'types=contact.created')
    expect(names(rest.events)).toEqual(['contact.created Clara'])
    expect((await page(null, 'types=*')).events).toHaveLength(3)
    expect((await page(null, 'types=broadcast.started')).events).toEqual([])
  })

  it('leaves out tests of endpoints', async () => {
    const { id } = await setWebhook(world, organization)
    await request('POST', `/set-webhooks/${id}/test`, { key: organization.key })
    expect(await readOn(null)).toEqual([])
  })

  it("shows only the organization's own events", async () => {
    await make('mine')
    await make('theirs', other)
    expect(names((await read('', other.key)).body.events)).toEqual(['contact.created theirs'])
    expect(names(await readOn(null))).toEqual(['contact.created mine'])
    const { next } = await page(null)
    expect((await read(`?after=${next}`, other.key)).body.events).toEqual([])
  })

  it('leaves out erased contacts', async () => {
    const number = await make('erased')
    await make('kept')
    const { next } = await page(null, 'limit=1')
    await world.request('DELETE', `/contact?chat_id=${number}`, { key: organization.key })
    await world.drain()
    expect(names(await readOn(null))).toEqual(['contact.created kept'])
    expect(names(await readOn(next))).toEqual(['contact.created kept'])
  })

  it.each([
    ['after=x', 'is not a position of the feed'],
    [`after=${Buffer.from('1:2://').toString('base64url')}`, 'is not a position of the feed'],
    [`after=${encode('1:2:')}`, 'is not a position of the feed'],
    [`after=${encode('1:2:/x/')}`, 'is not a position of the feed'],
    [`after=${encode('1:2://x')}`, 'is not a position of the feed'],
    [`after=${encode('0:2://')}`, 'is not a position of the feed'],
    [`after=${encode('3:2://')}`, 'is not a position of the feed'],
    [`after=${encode('2:5:1//')}`, 'is not a position of the feed'],
    [`after=${encode('2:5:3,3//')}`, 'is not a position of the feed'],
    [`after=${encode('2:5:4,3//')}`, 'is not a position of the feed'],
    [`after=${encode('2:5:5//')}`, 'is not a position of the feed'],
    [`after=${encode(`1:${'9'.repeat(20)}://`)}`, 'is not a position of the feed'],
    [`after=${'A'.repeat(8_193)}`, 'after'],
    ['types=message.lost', 'message.lost'],
    ['types=contact.created,', 'types'],
    ['types=webhook.test', 'webhook.test'],
    ['limit=0', '1 to 1000'],
    ['limit=1001', '1 to 1000'],
  ])('returns 400 for %s', async (query, part) => {
    const { status, body } = await read(`?${query}`)
    expect([status, body.error]).toEqual([400, 'Invalid parameter'])
    expect(body.message).toContain(part)
  })

  it('returns 400 for a position from the future, as after a restored backup', async () => {
    await make('Ana')
    for (const position of [`1:${'9'.repeat(18)}://`, `${'9'.repeat(18)}:${'9'.repeat(18)}://`]) {
      const { status, body } = await read(`?after=${encode(position, await history())}`)
      expect([status, body.error]).toEqual([400, 'Invalid parameter'])
      expect(body.message).toContain('start again')
    }
  })

  it('accepts an invented position', async () => {
    await make('Ana')
    for (const position of ['1:1://999999999999999', '1:3:1,2/1:1:/5', '1:1:/1:1:/0', '2:2:/1:3:2/']) {
      const { status } = await read(`?after=${encode(position, await history())}`)
      expect({ position, status }).toEqual({ position, status: 200 })
    }
  })
})

describe('the order of the feed', () => {
  it('does not wait for older transactions that are still running, and loses no event', async () => {
    await make('first')
    const older = await beginEvent('older')
    await make('newer')
    const before = await page(null)
    expect(names(before.events)).toEqual(['contact.created first', 'contact.created newer'])
    const still = await page(before.next)
    expect(still.events).toEqual([])
    await older.commit()
    expect(names(await readOn(still.next))).toEqual(['contact.created older'])
    expect(names(await readOn(before.next))).toEqual(['contact.created older'])
    expect(names(await readOn(null, 1))).toEqual([
      'contact.created first',
      'contact.created older',
      'contact.created newer',
    ])
  })

  it('continues after a page that ends among events of a running transaction, whose events follow later', async () => {
    await make('first')
    const older = await beginEvent('older')
    await make('second')
    const { events, next } = await page(null, 'limit=1')
    await older.commit()
    await make('third')
    const all = [...events, ...(await readOn(next, 1))]
    expect(names(all)).toEqual([
      'contact.created first',
      'contact.created second',
      'contact.created older',
      'contact.created third',
    ])
  })

  it('loses nothing after a latest position from the same moment', async () => {
    await make('first')
    const older = await beginEvent('older')
    const { next } = await page('latest')
    await make('newer')
    await older.commit()
    expect(names(await readOn(next))).toEqual(['contact.created older', 'contact.created newer'])
  })

  it('places an event after the one it waited for, even if its transaction started earlier', async () => {
    const number = await make('first')
    const { next } = await page(null)
    // B starts, and has its transaction id from here on.
    const later = await hold(world.database, 'SELECT pg_current_xact_id()', [])
    holding.push(later)
    // A locks the contact, and has a higher id.
    const earlier = await hold(
      world.database,
      `WITH changed AS (
         UPDATE contacts SET full_name = 'A' WHERE organization_id = $1 AND chat_id = $2 RETURNING *
       )
       INSERT INTO events (organization_id, id, type, contact_id, data)
       SELECT organization_id, gen_random_uuid(), 'contact.updated', id, jsonb_build_object('contact', to_jsonb(changed))
       FROM changed`,
      [organization.id, number],
    )
    holding.push(earlier)
    const waiting = later.run(
      `WITH changed AS (
         UPDATE contacts SET full_name = 'B' WHERE organization_id = $1 AND chat_id = $2 RETURNING *
       )
       INSERT INTO events (organization_id, id, type, contact_id, data)
       SELECT organization_id, gen_random_uuid(), 'contact.updated', id, jsonb_build_object('contact', to_jsonb(changed))
       FROM changed`,
      [organization.id, number],
    )
    await untilWaiting(world.database, 1, 'UPDATE contacts')
    await earlier.commit()
    await waiting
    expect(names((await page(next)).events)).toEqual(['contact.updated A'])
    await later.commit()
    const { rows } = await world.database.pool.query(
      'SELECT data -> $2 ->> $3 AS name FROM events WHERE organization_id = $1 ORDER BY transaction_id, seq',
      [organization.id, 'contact', 'full_name'],
    )
    expect(rows.map(({ name }) => name)).toEqual(['first', 'B', 'A'])
    expect(names(await readOn(next, 1))).toEqual(['contact.updated A', 'contact.updated B'])
    expect(names(await readOn(null))).toEqual(['contact.created first', 'contact.updated A', 'contact.updated B'])
  })
})
