import { afterAll, beforeAll, expect, it } from 'vitest'
import { readPosition } from '../../../src/core/webhooks/positions.js'
import { tickTransactionClock } from '../../../src/storage/events/transaction-clock.js'
import { createContact } from '../../interfaces/hooks/support.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'
import { raise } from './support.js'

let world: World
let organization: TestOrganization
let contact: string

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
  contact = await createContact(world, organization, '+16505557800')
})

afterAll(() => world.close())

const read = (after: string) => world.request('GET', `/events?after=${after}`, { key: organization.key })
const latest = async (): Promise<string> => (await read('latest')).body.next_after
const namesIn = (events: { data: { contact: { full_name: string } } }[]) =>
  events.map(({ data }) => data.contact.full_name)

/** As if a standby had taken over, or the server had been restored to this moment: what follows is another history. */
const moveToOtherServer = () => world.database.pool.query(`UPDATE event_histories SET server = 'before/' || n`)

it('a position from before the clock was last set stays valid on another server', async () => {
  const position = await latest()
  await raise(world, contact, 1, 1)
  await tickTransactionClock(world.app.ctx.database)
  await moveToOtherServer()
  await raise(world, contact, 1, 2)
  const page = await read(position)
  expect(namesIn(page.body.events)).toEqual(['1', '2'])
  expect(readPosition(page.body.next_after).history).not.toBe(readPosition(position).history)
})

it('a later position of the former server is refused, and the message names one that misses nothing', async () => {
  await tickTransactionClock(world.app.ctx.database)
  await raise(world, contact, 1, 3)
  const position = await latest()
  await moveToOtherServer()
  await raise(world, contact, 1, 4)
  const refused = await read(position)
  expect(refused).toMatchObject({ status: 400, body: { error: 'Invalid parameter' } })
  const [, named] = /continue with ([\w-]+),/.exec(refused.body.message) ?? []
  const page = await read(String(named))
  expect(namesIn(page.body.events)).toEqual(['3', '4'])
  expect(namesIn((await read(page.body.next_after)).body.events)).toEqual([])
})

it('after two such changes, the earlier of the two moments counts', async () => {
  await tickTransactionClock(world.app.ctx.database)
  await raise(world, contact, 1, 5)
  const position = await latest()
  await moveToOtherServer()
  await latest()
  await raise(world, contact, 1, 6)
  await tickTransactionClock(world.app.ctx.database)
  await moveToOtherServer()
  const refused = await read(position)
  const [, named] = /continue with ([\w-]+),/.exec(refused.body.message) ?? []
  expect(namesIn((await read(String(named))).body.events)).toEqual(['5', '6'])
})

it('a position of a history that this database does not know is refused', async () => {
  const text = Buffer.from(await latest(), 'base64url').toString()
  const foreign = Buffer.from(text.replace(/[0-9a-f]{12}$/, '0123456789ab')).toString('base64url')
  expect(await read(foreign)).toMatchObject({ status: 400 })
  expect((await read(foreign)).body.message).toContain('another database')
})

it('names no history while a process of version 0.1 runs, and reads such positions as those of the first', async () => {
  const { rows } = await world.database.pool.query('INSERT INTO processes (version) VALUES (NULL) RETURNING id')
  // Removed within a second, since nothing holds its lock.
  const lock = await world.database.pool.connect()
  try {
    await lock.query('SELECT pg_advisory_lock($1, $2)', [0x70_61_72_6c, rows[0].id])
    await world.database.pool.query(
      'INSERT INTO processes (id, version) OVERRIDING SYSTEM VALUE VALUES ($1, NULL) ON CONFLICT DO NOTHING',
      [rows[0].id],
    )
    expect(readPosition(await latest()).history).toBeNull()
  } finally {
    lock.release(true)
  }
  await world.database.pool.query('DELETE FROM processes WHERE id = $1', [rows[0].id])
  await world.database.pool.query('TRUNCATE event_histories')
  await world.database.pool.query(`INSERT INTO event_histories (server, known_to) VALUES ('first', '1:1:')`)
  const position = Buffer.from(
    Buffer.from(await latest(), 'base64url')
      .toString()
      .replace(/\/[0-9a-f]{12}$/, ''),
  ).toString('base64url')
  await tickTransactionClock(world.app.ctx.database)
  await raise(world, contact, 1, 7)
  expect(await read(position)).toMatchObject({ status: 400 })
})
