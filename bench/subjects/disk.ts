import type pg from 'pg'
import { packageRoot } from '../../src/lib/files/package-root.js'
import { startChild } from '../child.js'
import { insertContacts } from '../event-data.js'
import { runPaced } from '../generator.js'
import { type NextRequest, post } from '../loads.js'
import { type Run, startServer } from '../server.js'
import { until } from '../until.js'
import {
  call,
  MAIN,
  makeFolder,
  makeOrganization,
  type Organization,
  serviceEnvironment,
  startService,
} from '../world.js'
import { untilProcessed } from './callbacks.js'

/** What a table keeps, in bytes. */
export interface TableSize {
  name: string
  rows: number
  indexes: number
}

/** What sent messages with their statuses leave on disk, in bytes per message. */
export interface DiskCost {
  title: string
  messages: number
  /** What is kept, by table, after a vacuum; the largest first. */
  tables: TableSize[]
  /** Written to the WAL, and how many whole pages were among that. */
  wal: number
  walPages: number
}

const CONTACTS = 2_000
const PER_SECOND = 200
const CONNECTIONS = 32
const STATUSES_MS = 60_000
const POLLING = { what: 'the events have not been delivered', pollMs: 50, timeoutMs: 5 * 60_000 }

interface Setup {
  database: pg.Pool
  organization: Organization
  serviceUrl: string
  sandboxUrl: string
}

/** Sends this many texts, each of which gets three statuses, without and with a webhook. */
export async function measureDisk(run: Run, messages: number): Promise<DiskCost[]> {
  const folder = await makeFolder(run)
  const { database, url } = await startServer(run, folder)
  const sandbox = await startChild(run, [MAIN, 'sandbox'], {})
  await call('POST', `${sandbox.url}/_sim/settings`, { statuses: true })
  const env = {
    ...serviceEnvironment(folder, `${sandbox.url}/v23.0`),
    PARLEY_DATABASE_URL: url,
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8',
  }
  const organization = await makeOrganization(run, env)
  await database.query(insertContacts, [organization.id, CONTACTS])
  await database.query(
    'INSERT INTO contact_activity (organization_id, contact_id, active_at) SELECT organization_id, id, created_at FROM contacts',
  )
  const service = await startService(run, env)
  const setup = { database, organization, serviceUrl: service.url, sandboxUrl: sandbox.url }
  const without = await measureSends(setup, 'without a webhook', messages)
  const receiver = await startChild(run, [`${packageRoot()}/dist/bench/webhook-receiver.js`], {})
  await call('POST', `${service.url}/set-webhooks`, { url: receiver.url, events: ['*'] }, organization.key)
  const withWebhook = await measureSends(setup, 'with a webhook', messages)
  await service.stop()
  return [without, withWebhook]
}

async function measureSends(setup: Setup, title: string, messages: number): Promise<DiskCost> {
  const { database } = setup
  // A vacuum frees the room of the rows as they were before their last update, and later rows use it again.
  await send(setup, messages)
  await database.query('VACUUM (ANALYZE)')
  await database.query('CHECKPOINT')
  const [tables, wal] = [await sizesOf(database), await walOf(database)]
  await send(setup, messages)
  const walAfter = await walOf(database)
  await database.query('VACUUM (ANALYZE)')
  const after = await sizesOf(database)
  const grown = after.map(({ name, rows, indexes }) => {
    const before = tables.find((table) => table.name === name)
    return {
      name,
      rows: (rows - (before?.rows ?? 0)) / messages,
      indexes: (indexes - (before?.indexes ?? 0)) / messages,
    }
  })
  return {
    title,
    messages,
    tables: grown
      .filter(({ rows, indexes }) => rows + indexes >= 1)
      .sort((one, other) => other.rows + other.indexes - one.rows - one.indexes),
    wal: (walAfter.bytes - wal.bytes) / messages,
    walPages: (walAfter.pages - wal.pages) / messages,
  }
}

/** Sends texts to all contacts in turn, and waits until all that follows from them is done. */
async function send(setup: Setup, messages: number): Promise<void> {
  const { database, organization, serviceUrl, sandboxUrl } = setup
  await runPaced(
    serviceUrl,
    { perSecond: PER_SECOND, seconds: messages / PER_SECOND, connections: CONNECTIONS },
    toContactsInTurn(organization),
  )
  await call('POST', `${sandboxUrl}/_sim/idle`, { timeout_ms: STATUSES_MS })
  await untilProcessed(setup)
  const isDelivered = async () => {
    const { rows } = await database.query(
      `SELECT NOT EXISTS (SELECT FROM webhook_deliveries WHERE status = 'pending') AND (
         SELECT count(*) FROM webhook_deliveries WHERE event_type = 'message.read'
       ) = (
         SELECT count(*) FROM events e JOIN webhooks w USING (organization_id)
         WHERE e.type = 'message.read' AND e.seq > w.since_seq
       ) AS done`,
    )
    return rows[0].done
  }
  await until(isDelivered, POLLING)
}

let sent = 0

function toContactsInTurn({ key }: Organization): NextRequest {
  return () => {
    const number = 5_511_970_000_000 + ((sent++ % CONTACTS) + 1) * 10 + 7
    const message = { phone_number: `+${number}`, message_type: 'text', text: 'Your order has left our house today.' }
    return post('/send-chat', JSON.stringify(message), `authorization: Bearer ${key}\r\n`)
  }
}

async function sizesOf(database: pg.Pool): Promise<TableSize[]> {
  const { rows } = await database.query<TableSize>(
    `SELECT relname AS name, pg_table_size(oid)::float8 AS rows, pg_indexes_size(oid)::float8 AS indexes
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  )
  return rows
}

/** `pages`: the whole pages that were written since a checkpoint; of all databases of the server. */
async function walOf(database: pg.Pool): Promise<{ bytes: number; pages: number }> {
  const { rows } = await database.query(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes, wal_fpi::float8 AS pages FROM pg_stat_wal`,
  )
  return rows[0]
}
