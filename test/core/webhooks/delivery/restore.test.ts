import { pino } from 'pino'
import { afterEach, expect, it } from 'vitest'
import { verifyDatabase } from '../../../../src/core/maintenance/verify.js'
import { adoptRestoredDatabase } from '../../../../src/core/processes/histories.js'
import { createDispatcher } from '../../../../src/core/webhooks/delivery/dispatcher.js'
import { tickTransactionClock } from '../../../../src/storage/events/transaction-clock.js'
import { noteUptime } from '../../../../src/storage/processes/process-registry.js'
import { createContact } from '../../../support/contacts.js'
import { untilWaiting } from '../../../support/locks.js'
import {
  closeEndpoints,
  expectNothingStuck,
  holdOpen,
  namesOf,
  raise,
  startEndpoint,
} from '../../../support/webhook-endpoints.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

afterEach(closeEndpoints)

/** As if all data came from a server whose transaction ids were a million ahead. */
async function restoreFromElsewhere(): Promise<void> {
  const later = (column: string) => `${column} = (${column}::text::bigint + 1000000)::text::xid8`
  const laterSnapshot = (column: string) => `${column} = (
     (pg_snapshot_xmin(${column})::text::bigint + 1000000) || ':' || (pg_snapshot_xmax(${column})::text::bigint + 1000000) || ':' || (
       SELECT coalesce(string_agg((id::text::bigint + 1000000)::text, ','), '') FROM pg_snapshot_xip(${column}) id
     ))::pg_snapshot`
  const { pool } = world.database
  await pool.query(`UPDATE events SET ${later('transaction_id')}`)
  await pool.query(`UPDATE transaction_clock SET ${later('transaction_id')}, ${laterSnapshot('snapshot')}`)
  await pool.query(`UPDATE webhook_feeds SET ${laterSnapshot('window_from')}`)
  await pool.query(`UPDATE event_histories SET server = 'elsewhere/' || n`)
}

/** A position from that server, of the same history. */
const fromElsewhere = (position: string) => {
  const [, ids, history] = /^(.*)\/(\w+)$/.exec(Buffer.from(position, 'base64url').toString()) ?? []
  const later = String(ids).replace(/\d+/g, (id) => String(Number(id) + 1_000_000))
  return Buffer.from(`${later}/${history}`).toString('base64url')
}

/** The versions of all events. */
const versions = async () => (await world.database.pool.query('SELECT seq, xmin FROM events ORDER BY seq')).rows

const namesIn = ({ events }: { events: { data: { contact: { full_name: string } } }[] }) =>
  events.map(({ data }) => data.contact.full_name)

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
  await tickTransactionClock(world.app.ctx.database)
  await raise(world, contact, 1, 3)
  const { next_after: tooNew } = await feed()
  await restoreFromElsewhere()
  const before = await versions()
  await adoptRestoredDatabase(world.app.ctx)
  // However many there are, none is written again.
  expect(await versions()).toEqual(before)
  // The process that starts there has no state from before.
  await world.app.webhooks.stop()
  const dispatcher = createDispatcher(world.app.work)
  await dispatcher.drain()
  expect(namesOf(endpoint)).toEqual(['1', '2', '3'])
  await raise(world, contact, 1, 4)
  await dispatcher.drain()
  expect(namesOf(endpoint)).toEqual(['1', '2', '3', '4'])
  await expectNothingStuck(world)
  expect(namesIn(await feed())).toEqual(['1', '2', '3', '4'])
  expect(namesIn(await feed(`&after=${fromElsewhere(old)}`))).toEqual(['3', '4'])
  expect(await feed(`&after=${fromElsewhere(tooNew)}`)).toMatchObject({ error: 'Invalid parameter' })
})

it('a database that has moved finds the events of its messages, and verifies', async () => {
  await restoreFromElsewhere()
  await adoptRestoredDatabase(world.app.ctx)
  const body = { phone_number: '+16505557800', message_type: 'text', text: 'after the move' }
  const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
  const path = `/messages/${encodeURIComponent(sent.body.data.message_id)}/trace`
  const { entries } = (await world.request('GET', path, { key: organization.key })).body.trace
  const raised = entries.filter(({ kind }: { kind: string }) => kind === 'event_raised')
  expect(raised).toMatchObject([{ event_type: 'message.sent' }])
  const violations: unknown[] = []
  await verifyDatabase({ ...world.app.ctx, blobs: null }, undefined, {
    begins: () => undefined,
    read: () => undefined,
    violation: (violation) => violations.push(violation),
    note: () => undefined,
  })
  expect(violations).toEqual([])
})

it('a database whose clock was not set for a while is found to have moved by its events', async () => {
  const contact = await createContact(world, organization, '+16505557802')
  const { pool } = world.database
  const clock = await pool.query('SELECT * FROM transaction_clock')
  const feeds = await pool.query('DELETE FROM webhook_feeds RETURNING *')
  await raise(world, contact, 1, 5)
  await restoreFromElsewhere()
  await pool.query('UPDATE transaction_clock SET transaction_id = $1', [clock.rows[0].transaction_id])
  await adoptRestoredDatabase(world.app.ctx)
  await raise(world, contact, 1, 6)
  expect(namesIn(await feed()).slice(-2)).toEqual(['5', '6'])
  for (const { organization_id } of feeds.rows)
    await pool.query('INSERT INTO webhook_feeds (organization_id) VALUES ($1)', [organization_id])
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
