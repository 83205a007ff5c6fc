import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CallbackQueue } from '../../../src/core/callbacks/queue.js'
import { takeTurn } from '../../../src/core/callbacks/turn.js'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { insertCallbacks } from '../../../src/storage/callbacks/callbacks.js'
import { listFailedCallbacks, retryFailedCallbacks } from '../../../src/storage/callbacks/set-aside.js'
import { changeFor, envelope, textMessage, type WireMessage } from '../../support/callbacks.js'
import { contact, createContact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { hold } from '../../support/locks.js'
import { patience } from '../../support/patience.js'
import { callbackRows } from '../../support/rows/callbacks.js'
import { eventsOf } from '../../support/rows/events.js'
import { messageRows } from '../../support/rows/messages.js'
import { hearNotifications } from '../../support/signals.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const PERSON = '16505552001'
const OTHER = '16505552002'

const world = useWorld()
let organization: TestOrganization
let queues: CallbackQueue[]
let pools: Database[]
/** The connections of another process, whose commits this one does not hear. */
let elsewhere: Database

beforeAll(async () => {
  elsewhere = openDatabase(world.database.connection, 1, () => undefined)
  await world.database.pool.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`,
  )
})

beforeEach(async () => {
  organization = await world.createOrganization()
  queues = []
  pools = []
})

afterEach(async () => {
  await cure()
  await Promise.all(queues.map((queue) => queue.stop()))
  await Promise.all(pools.map((pool) => pool.close()))
  await world.reset()
})

afterAll(() => elsewhere.close())

/** A queue as in a process of its own, with its own connections. */
function startQueue(): CallbackQueue {
  const database = openDatabase(world.database.connection, 6, () => undefined)
  pools.push(database)
  const queue = new CallbackQueue({ ...world.app.work, database })
  queues.push(queue)
  queue.start()
  return queue
}

/** Messages with this text cannot be recorded. */
async function poison(): Promise<void> {
  await world.database.pool.query(
    `CREATE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW WHEN (NEW.text = 'poison') EXECUTE FUNCTION refuse()`,
  )
}

async function cure(): Promise<void> {
  await world.database.pool.query('DROP TRIGGER IF EXISTS refuse ON messages')
}

/** Stores messages, each in a callback of its own, as the receiver of another process does. */
async function store(owner: TestOrganization, ...messages: WireMessage[]): Promise<void> {
  const callbacks = messages.map((message) => {
    const body = JSON.stringify(envelope(owner.businessAccountId, changeFor(owner, { messages: [message] })))
    return { organizationId: owner.id, id: newId(), instanceId: null, traceparent: null, body: Buffer.from(body) }
  })
  await insertCallbacks(elsewhere, callbacks)
}

async function texts(owner: TestOrganization, from: string): Promise<string[]> {
  const { status, body } = await conversation(world, owner, from)
  return status === 404 ? [] : body.messages.map((message: { message: string }) => message.message)
}

async function countWaiting(owner: TestOrganization): Promise<number> {
  return (await callbackRows(world, { organization_id: owner.id, waiting: true })).length
}

async function storedTexts(owner: TestOrganization): Promise<string[]> {
  return (await messageRows(world, { organization_id: owner.id })).map(({ text }) => text)
}

function upTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1))
}

describe('a batch of callbacks', () => {
  it('records items of all kinds, and those of one person in the order of their arrival', async () => {
    await createContact(world, organization, `+${PERSON}`)
    const first = textMessage(PERSON, 'first')
    const edit = { original_message_id: first.id, message: { type: 'text', text: { body: 'corrected' } } }
    await store(
      organization,
      first,
      textMessage(OTHER, 'unknown until now', { from_user_id: 'US.12345' }),
      textMessage(PERSON, 'second'),
      textMessage(PERSON, '', { type: 'edit', edit }),
      first,
      textMessage(OTHER, 'and known'),
      textMessage(PERSON, '', { type: 'reaction', reaction: { message_id: first.id, emoji: '👍' } }),
      textMessage(PERSON, 'third'),
    )
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['corrected', 'second', 'third'])
    expect(await texts(organization, OTHER)).toEqual(['unknown until now', 'and known'])
    expect((await conversation(world, organization, PERSON)).body.messages[0]).toMatchObject({
      reactions: [{ emoji: '👍' }],
    })
    expect(await countWaiting(organization)).toBe(0)
  })

  it('raises the events of one person in order', async () => {
    await createContact(world, organization, `+${PERSON}`)
    const messages = upTo(5).map((text, n) => textMessage(PERSON, text, { timestamp: String(1_750_000_000 + n) }))
    await store(organization, ...messages)
    await world.drain()
    const events = await eventsOf(world, organization, 'message.received')
    events.sort((one, other) => one.seq - other.seq)
    expect(events.map(({ data }) => [data.message.text, data.message.seq])).toEqual(
      upTo(5).map((text, n) => [text, n + 1]),
    )
    expect((await contact(world, organization, PERSON)).body.contact).toMatchObject({ has_unread_messages: true })
  })

  it('records a message once if it is repeated in the batch and later', async () => {
    await createContact(world, organization, `+${PERSON}`)
    const message = textMessage(PERSON, 'once')
    await store(organization, message, message, textMessage(PERSON, 'between'), message)
    await world.drain()
    await store(organization, message)
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['once', 'between'])
    expect(await eventsOf(world, organization, 'message.received')).toHaveLength(2)
  })
})

describe('a callback that fails', () => {
  it('is set aside with what follows of the same person, and done in order when it succeeds', async () => {
    await createContact(world, organization, `+${PERSON}`)
    const neighbour = await world.createOrganization()
    await poison()
    await store(organization, ...['before', 'poison', 'after'].map((text) => textMessage(PERSON, text)))
    await store(organization, textMessage(OTHER, 'not concerned'))
    await store(neighbour, textMessage(PERSON, 'elsewhere'))
    await world.drain()
    await store(organization, textMessage(PERSON, 'later'))
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['before'])
    expect(await texts(organization, OTHER)).toEqual(['not concerned'])
    expect(await texts(neighbour, PERSON)).toEqual(['elsewhere'])
    const metrics = (await world.request('GET', '/metrics')).body
    expect(metrics).toMatch(/^parley_callbacks_set_aside 3$/m)
    expect(metrics).toMatch(/^parley_callbacks_waiting 0$/m)

    await cure()
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['before'])
    world.advance(7_000)
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['before', 'poison', 'after', 'later'])
    expect((await world.request('GET', '/metrics')).body).toMatch(/^parley_callbacks_set_aside 0$/m)
  })

  it('is listed as failed after its last attempt, lets the others go on, and can be retried', async () => {
    await createContact(world, organization, `+${PERSON}`)
    const neighbour = await world.createOrganization()
    await poison()
    await store(organization, textMessage(PERSON, 'poison'), textMessage(PERSON, 'after'))
    for (let attempt = 1; attempt <= 8; attempt++) {
      expect(await texts(organization, PERSON)).toEqual([])
      expect(await listFailedCallbacks(world.database, organization.id, 10)).toEqual([])
      await world.drain()
      world.advance(10 * 60_000)
    }
    expect(await texts(organization, PERSON)).toEqual(['after'])
    expect(await listFailedCallbacks(world.database, organization.id, 10)).toMatchObject([
      { organization_id: organization.id, attempts: 8, error: 'refused' },
    ])
    expect(await listFailedCallbacks(world.database, neighbour.id, 10)).toEqual([])
    expect((await world.request('GET', '/metrics')).body).toMatch(/^parley_callbacks_failed 1$/m)

    await cure()
    expect(await retryFailedCallbacks(world.database, neighbour.id, null, world.now())).toEqual([])
    expect(await retryFailedCallbacks(world.database, organization.id, null, world.now())).toHaveLength(1)
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['after', 'poison'])
    expect(await listFailedCallbacks(world.database, null, 10)).toEqual([])
  })
})

/** As if a process had died during a turn with the waiting callbacks, and others before it. */
async function dieInTurn(owner: TestOrganization, deathsBefore: number): Promise<void> {
  await world.database.pool.query(
    `INSERT INTO callback_turns (organization_id, process_id, callback_ids, deaths)
     SELECT $1, 4711, array_agg(id ORDER BY received_at, id), $2 FROM callbacks WHERE organization_id = $1 AND waiting
     ON CONFLICT (organization_id) DO UPDATE SET process_id = 4711, callback_ids = excluded.callback_ids, deaths = $2`,
    [owner.id, deathsBefore],
  )
}

async function turnOf(owner: TestOrganization) {
  const { rows } = await world.database.pool.query(
    'SELECT process_id, callback_ids, deaths FROM callback_turns WHERE organization_id = $1',
    [owner.id],
  )
  return rows
}

describe('the callbacks of a process that died', () => {
  const ENDED = { process_id: null, callback_ids: [], deaths: 0 }

  it.each([0, 1])('are processed again, and nothing is set aside, after %i deaths before', async (before) => {
    await store(organization, ...['one', 'two', 'three'].map((text) => textMessage(PERSON, text)))
    await dieInTurn(organization, before)
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['one', 'two', 'three'])
    expect(await turnOf(organization)).toEqual([ENDED])
    expect(await listFailedCallbacks(world.database, null, 10)).toEqual([])
  })

  it('are set aside, with the reason, if it had processed one alone; the others go on', async () => {
    const neighbour = await world.createOrganization()
    await store(organization, ...['deadly', 'two', 'three'].map((text) => textMessage(PERSON, text)))
    await store(neighbour, textMessage(PERSON, 'elsewhere'))
    await dieInTurn(organization, 2)
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['two', 'three'])
    expect(await texts(neighbour, PERSON)).toEqual(['elsewhere'])
    expect(await listFailedCallbacks(world.database, neighbour.id, 10)).toEqual([])
    expect(await listFailedCallbacks(world.database, organization.id, 10)).toMatchObject([
      { attempts: 3, error: 'its process died 3 times' },
    ])
    expect(await turnOf(organization)).toEqual([ENDED])

    expect(await retryFailedCallbacks(world.database, organization.id, null, world.now())).toHaveLength(1)
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['two', 'three', 'deadly'])
  })

  it('are not suspected if the process lives', async () => {
    await store(organization, textMessage(PERSON, 'slow'))
    await dieInTurn(organization, 2)
    await world.database.pool.query('UPDATE callback_turns SET process_id = $1, deaths = 1', [world.app.ctx.processId])
    await world.drain()
    expect(await texts(organization, PERSON)).toEqual(['slow'])
  })

  it('fail if they were set aside before and two processes died with them', async () => {
    await createContact(world, organization, `+${PERSON}`)
    await poison()
    await store(organization, textMessage(PERSON, 'poison'), textMessage(PERSON, 'after'))
    await world.drain()
    await cure()
    for (const failed of [0, 1]) {
      await world.database.pool.query('UPDATE set_aside_callbacks SET process_id = 4711 WHERE attempts > 0')
      world.advance(10 * 60_000)
      await world.app.callbacks.drain()
      const listed = await listFailedCallbacks(world.database, organization.id, 10)
      expect(listed.map(({ error }) => error)).toEqual(failed ? ['its process died twice'] : [])
    }
    expect(await texts(organization, PERSON)).toEqual(['after'])
  })
})

describe('a callback with many items', () => {
  it('gives its place back when the time is over, and continues there', async () => {
    const people = upTo(6).map((n) => `1650555300${n}`)
    const messages = people.map((from) => textMessage(from, `of ${from}`))
    const body = JSON.stringify(envelope(organization.businessAccountId, changeFor(organization, { messages })))
    const callback = { organizationId: organization.id, id: newId(), instanceId: null, traceparent: null }
    await insertCallbacks(world.database, [{ ...callback, body: Buffer.from(body) }])
    const recorded = new Map<string, Set<number>>()
    const turn = () => takeTurn(world.app.work, organization.id, { mayGoOn: () => false, recorded })
    for (const count of [1, 2, 3, 4, 5]) {
      expect(await turn()).toBe('more')
      expect(Array.from(recorded, ([id, items]) => [id, items.size])).toEqual([[callback.id, count]])
      expect(await storedTexts(organization)).toHaveLength(count)
      expect(await countWaiting(organization)).toBe(1)
    }
    await turn()
    expect(recorded).toEqual(new Map())
    expect(await countWaiting(organization)).toBe(0)
    expect((await storedTexts(organization)).sort()).toEqual(people.map((from) => `of ${from}`).sort())
  })

  it('is done before later callbacks of its batch, whose items are recorded meanwhile', async () => {
    await createContact(world, organization, `+${PERSON}`)
    const messages = upTo(3).map((n) => textMessage(`1650555300${n}`, `of ${n}`))
    const body = JSON.stringify(envelope(organization.businessAccountId, changeFor(organization, { messages })))
    const callback = { organizationId: organization.id, id: newId(), instanceId: null, traceparent: null }
    await insertCallbacks(world.database, [{ ...callback, body: Buffer.from(body) }])
    const known = textMessage(PERSON, 'known')
    const reaction = { message_id: known.id, emoji: '👍' }
    await store(organization, known, textMessage(PERSON, '', { type: 'reaction', reaction }))
    const recorded = new Map<string, Set<number>>()
    const turn = () => takeTurn(world.app.work, organization.id, { mayGoOn: () => false, recorded })
    for (const count of [1, 2]) {
      expect(await turn()).toBe('more')
      expect(await texts(organization, PERSON)).toEqual(['known'])
      expect(await storedTexts(organization)).toHaveLength(1 + count)
      expect(await countWaiting(organization)).toBe(3)
    }
    expect(await turn()).toBe('idle')
    expect(await countWaiting(organization)).toBe(0)
    expect((await conversation(world, organization, PERSON)).body.messages).toMatchObject([
      { message: 'known', reactions: [{ emoji: '👍' }] },
    ])
    expect(await eventsOf(world, organization, 'message.received')).toHaveLength(4)
  })
})

describe('several processes', () => {
  it("record one person's messages in the order of their arrival", async () => {
    const started = [startQueue(), startQueue(), startQueue()]
    for (const text of upTo(300)) {
      await store(organization, textMessage(PERSON, text))
      started[Number(text) % 3]?.wake([organization.id])
    }
    await expect.poll(() => countWaiting(organization)).toBe(0)
    expect(await storedTexts(organization)).toEqual(upTo(300))
  })

  it('notify each other once of a callback whose organization has its turn elsewhere', async () => {
    const lock = await hold(world.database, 'SELECT pg_advisory_xact_lock($1, hashtext($2))', [
      0x63_61_6c_6c,
      organization.id,
    ])
    const heard = hearNotifications(world)
    const [first] = [startQueue(), startQueue(), startQueue()]
    await store(organization, textMessage(PERSON, 'hello'))
    first?.wake([organization.id])
    const notified = () => heard().filter(({ topic }) => topic === 'callbacks').length
    await expect.poll(notified).toBeGreaterThan(0)
    await lock.release()
    await expect.poll(() => countWaiting(organization)).toBe(0)
    expect(notified()).toBe(1)
  })

  it('lose nothing and record nothing twice if a connection ends in the middle of a batch', async () => {
    await createContact(world, organization, `+${PERSON}`)
    await store(organization, ...upTo(150).map((text) => textMessage(PERSON, text)))
    const client = await world.database.pool.connect()
    try {
      await client.query('BEGIN')
      await client.query('SELECT FROM contacts WHERE organization_id = $1 FOR UPDATE', [organization.id])
      startQueue()
      startQueue()
      const terminate = `SELECT pg_terminate_backend(l.pid)
        FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.classid = ${0x63_61_6c_6c} AND a.wait_event_type = 'Lock'
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      await expect.poll(async () => (await world.database.pool.query(terminate)).rowCount).toBe(1)
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
    await expect.poll(() => countWaiting(organization)).toBe(0)
    expect(await storedTexts(organization)).toEqual(upTo(150))
    expect(await eventsOf(world, organization, 'message.received')).toHaveLength(150)
  })
})

describe('the backlog of some organizations', () => {
  it('does not delay the callbacks of another one', async () => {
    const noisy = await Promise.all(upTo(5).map(() => world.createOrganization()))
    for (const owner of noisy) await store(owner, ...upTo(400).map((text) => textMessage(PERSON, text)))
    await store(organization, textMessage(PERSON, 'quiet'))
    startQueue()
    await expect.poll(() => storedTexts(organization), { interval: 1 }).toEqual(['quiet'])
    for (const owner of noisy) expect(await countWaiting(owner)).toBeGreaterThan(0)
    await expect.poll(async () => Math.max(...(await Promise.all(noisy.map(countWaiting)))), patience).toBe(0)
    for (const owner of noisy) expect(await storedTexts(owner)).toEqual(upTo(400))
  })
})
