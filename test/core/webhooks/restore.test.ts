import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { adoptRestoredDatabase } from '../../../src/core/runtime/maintenance.js'
import { createDispatcher } from '../../../src/core/webhooks/delivery/dispatcher.js'
import { noteUptime } from '../../../src/storage/runtime/process-registry.js'
import { createContact } from '../../interfaces/hooks/support.js'
import { untilWaiting } from '../../support/locks.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'
import { closeEndpoints, expectNothingStuck, holdOpen, namesOf, raise, startEndpoint } from './support.js'

let world: World
let organization: TestOrganization

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
})

afterEach(closeEndpoints)

afterAll(() => world.close())

/** As if all data came from a server whose transaction ids were a million ahead. */
async function restoreFromElsewhere(): Promise<void> {
  const later = (column: string) => `(${column}::text::bigint + 1000000)::text::xid8`
  await world.database.pool.query(`UPDATE events SET transaction_id = ${later('transaction_id')}`)
  await world.database.pool.query(`UPDATE transaction_clock SET transaction_id = ${later('transaction_id')}`)
  await world.database.pool.query(
    `UPDATE webhook_feeds SET window_from = (
       (pg_snapshot_xmin(window_from)::text::bigint + 1000000) || ':' || (pg_snapshot_xmax(window_from)::text::bigint + 1000000) || ':' || (
         SELECT coalesce(string_agg((id::text::bigint + 1000000)::text, ','), '') FROM pg_snapshot_xip(window_from) id
       ))::pg_snapshot`,
  )
}

/** A position from that server. */
const fromElsewhere = (position: string) => {
  const text = Buffer.from(position, 'base64url').toString()
  return Buffer.from(text.replace(/\d+/g, (id) => String(Number(id) + 1_000_000))).toString('base64url')
}

const feed = async (after = '') => {
  const { body } = await world.request('GET', `/events?types=contact.updated${after}`, { key: organization.key })
  return body
}

it('a database restored on another server continues where it ended: no event is skipped or repeated', async () => {
  const endpoint = await startEndpoint(world, organization, ['contact.updated'])
  const contact = await createContact(world, organization, '+16505557800')
  await raise(world, contact, 2)
  await world.drain()
  const { next_after: old } = await feed()
  await raise(world, contact, 1, 3)
  await restoreFromElsewhere()
  await adoptRestoredDatabase(world.app.ctx)
  // The process that starts there has no state from before.
  await world.app.webhooks.stop()
  const dispatcher = createDispatcher(world.app.ctx)
  await dispatcher.drain()
  expect(namesOf(endpoint)).toEqual(['1', '2', '3'])
  await raise(world, contact, 1, 4)
  await dispatcher.drain()
  expect(namesOf(endpoint)).toEqual(['1', '2', '3', '4'])
  await expectNothingStuck(world)
  const names = (await feed()).events.map(
    ({ data }: { data: { contact: { full_name: string } } }) => data.contact.full_name,
  )
  expect(names).toEqual(['1', '2', '3', '4'])
  expect(await feed(`&after=${fromElsewhere(old)}`)).toMatchObject({ error: 'Invalid parameter' })
})

it('a database on the same server is left unchanged', async () => {
  const before = await world.database.pool.query('SELECT seq, transaction_id FROM events ORDER BY seq')
  await adoptRestoredDatabase(world.app.ctx)
  const after = await world.database.pool.query('SELECT seq, transaction_id FROM events ORDER BY seq')
  expect(after.rows).toEqual(before.rows)
})

it('a database whose clock another process is setting is left unchanged', async () => {
  await raise(world, await createContact(world, organization, '+16505557801'), 1)
  const before = await world.database.pool.query('SELECT seq, transaction_id FROM events ORDER BY seq')
  // A process that is older than the one that sets the clock, and continues to run.
  const older = await holdOpen(world, 'SELECT pg_current_xact_id()', [])
  const ticking = await holdOpen(world, 'UPDATE transaction_clock SET transaction_id = pg_current_xact_id()', [])
  const adopting = adoptRestoredDatabase(world.app.ctx)
  await untilWaiting(world.database, 1, 'transaction_clock')
  await ticking.commit()
  await adopting
  await older.release()
  const after = await world.database.pool.query('SELECT seq, transaction_id FROM events ORDER BY seq')
  expect(after.rows).toEqual(before.rows)
})

it('says since when no service has used the database, if that is a while ago', async () => {
  const lines: { lastUsed: string; minutes: number }[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const { database, clock } = world.app.ctx
  await noteUptime(database, clock())
  await adoptRestoredDatabase({ database, clock, log })
  expect(lines).toEqual([])
  const lastUsed = clock()
  await noteUptime(database, lastUsed)
  world.advance(90 * 60_000)
  await adoptRestoredDatabase({ database, clock, log })
  expect(lines).toMatchObject([{ lastUsed: lastUsed.toISOString(), minutes: 90 }])
})
