import type pg from 'pg'
import { INDEX_STEP } from '../conversations/search.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { isGoneProcess } from '../processes/process-registry.js'

// The tables of an organization as an export has them, read from the catalogue: a new table or column moves without a
// line here. See docs/decisions/moving-an-organization.md.

/** A table of organizations. */
export interface MovedTable {
  name: string
  /** The columns that move; the first one names the organization. */
  columns: readonly string[]
}

/**
 * What concerns a moment (who signs in, connects or waits for a command, and where links lead meanwhile), and the words of
 * long conversations: jobs index them anew, which takes longer than all the rest.
 */
const LEFT_OUT = [
  ...['member_sessions', 'sign_in_links', 'connection_attempts', 'instance_commands', 'forwards'],
  'message_search',
]

/**
 * SQL in place of columns that name processes or moments of the old cell, or tell what has been indexed; a pairing code has
 * long expired.
 */
const INSTEAD: Readonly<Record<string, string>> = {
  'idempotency_keys.process_id': '0',
  'jobs.process_id': 'NULL',
  'jobs.claimed_at': 'NULL',
  'set_aside_callbacks.process_id': 'NULL',
  'webhook_deliveries.process_id': 'NULL',
  'webhook_deliveries.claimed_at': 'NULL',
  'webhook_feeds.seq': 'NULL',
  'instances.holder': 'NULL',
  'instances.held_until': 'NULL',
  'instances.code': 'NULL',
  // The history of a phone has numbers below 0.
  'contacts.searchable_seq': 'least(t.pruned_seq, 0)',
  'events.data': "CASE type WHEN 'instance.qrcode' THEN '{}' ELSE data END",
}

/** Whether an event has become deliveries: 1 or 0 in place of its transaction, which is one of the old server. */
const IS_READ = `coalesce((
       SELECT pg_visible_in_snapshot(t.transaction_id, f.window_from) OR (
         f.window_to IS NOT NULL AND pg_visible_in_snapshot(t.transaction_id, f.window_to) AND t.seq <= f.seq
       )
       FROM webhook_feeds f WHERE f.organization_id = t.organization_id
     ), true)::int`

/** The table whose rows have a transaction id, as their last column. */
export const EVENTS = 'events'
/** The table whose keys all organizations share. */
export const DIRECTORY = 'directory'

// Identity columns get numbers of the new cell. Snapshots and transaction ids are those of a server.
const LIST = `
  SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attname <> owner.attname, a.attnum) AS columns,
    ARRAY(
      SELECT r.relname::text FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid
    ) AS refers
  FROM pg_class c
  JOIN pg_attribute owner ON owner.attrelid = c.oid
    AND owner.attname = CASE c.relname WHEN 'organization_rows' THEN 'id' ELSE 'organization_id' END
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    AND a.attidentity = '' AND a.atttypid NOT IN ('xid8'::regtype, 'pg_snapshot'::regtype)
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
    AND c.relname <> ALL ($1)
  GROUP BY c.oid
  ORDER BY c.relname`

/** The tables that move, each after those that it refers to. */
export async function listMovedTables(client: pg.ClientBase): Promise<MovedTable[]> {
  const { rows } = await client.query<MovedTable & { refers: string[] }>(LIST, [LEFT_OUT])
  const sorted: MovedTable[] = []
  const left = new Map(rows.map((row) => [row.name, row]))
  while (left.size > 0) {
    const next = [...left.values()].filter(({ refers }) => !refers.some((name) => left.has(name)))
    if (next.length === 0) throw new Error(`the tables ${[...left.keys()].join(', ')} refer to each other`)
    for (const { name, columns } of next) {
      left.delete(name)
      sorted.push({ name, columns })
    }
  }
  return sorted
}

/** SQL that copies the rows of an organization out. */
export function copyOutOf({ name, columns }: MovedTable, organizationId: string): string {
  const selected = columns.map((column) => INSTEAD[`${name}.${column}`] ?? `t.${quoted(column)}`)
  if (name === EVENTS) selected.push(IS_READ)
  const [owner = ''] = columns
  // Events in order, so that they are read in the order in which they were written.
  const order = name === EVENTS ? ' ORDER BY t.seq' : ''
  return `COPY (SELECT ${selected.join(', ')} FROM ${quoted(name)} t WHERE t.${quoted(owner)} = '${uuid(organizationId)}'${order}) TO STDOUT`
}

/** SQL that copies such rows in; `into`: another table of the same columns. */
export function copyInto({ name, columns }: MovedTable, into = name): string {
  const given = name === EVENTS ? [...columns, 'transaction_id'] : columns
  return `COPY ${quoted(into)} (${given.map(quoted).join(', ')}) FROM STDIN`
}

/**
 * What a process has begun that is not registered any more is not in progress: it is begun again, here or at the new
 * cell. One that seems dead may only have lost its connection.
 */
const IS_BEGUN = `process_id IS NOT NULL AND NOT (${isGoneProcess('process_id')})`

const IN_PROGRESS = `
  SELECT (SELECT count(*) FROM jobs WHERE organization_id = $1 AND ${IS_BEGUN})
    + (
      SELECT count(*) FROM webhook_deliveries
      WHERE organization_id = $1 AND status = 'pending' AND next_attempt_at IS NOT NULL AND ${IS_BEGUN}
    ) + (SELECT count(*) FROM callback_turns WHERE organization_id = $1 AND ${IS_BEGUN}) AS count`

/** How many jobs, deliveries and turns of callbacks of an organization are in progress. */
export async function countInProgress(client: pg.ClientBase | pg.Pool, organizationId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(IN_PROGRESS, [organizationId])
  return rows[0]?.count ?? 0
}

/** The time of requests that began before the suspension, and more. */
const REQUESTS_END = "interval '30 seconds'"

/** A suspension, and how many seconds requests that began before it may still take. */
export interface Suspension {
  since: Date
  requestsEndIn: number
}

/** The suspension of an organization; null: it works, or is not there. */
export async function readSuspension(
  client: pg.ClientBase | pg.Pool,
  organizationId: string,
): Promise<Suspension | null> {
  const { rows } = await client.query<Suspension>(
    `SELECT suspended_at AS since, extract(epoch FROM suspended_at + ${REQUESTS_END} - now())::float8 AS "requestsEndIn"
     FROM kept_organizations WHERE id = $1 AND suspended_at IS NOT NULL`,
    [organizationId],
  )
  return rows[0] ?? null
}

/** The ids of at most `limit` stored files after an id, in order. */
export async function listMovedFiles(
  client: pg.ClientBase,
  organizationId: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM media WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3',
    [organizationId, after, limit],
  )
  return rows.map(({ id }) => id)
}

/** What an import puts in place of transactions: the last one before all that may still run, and its own. */
export interface EventTransactions {
  past: string
  own: string
}

/** Needs a transaction. */
export async function readEventTransactions(client: pg.ClientBase): Promise<EventTransactions> {
  const { rows } = await client.query<EventTransactions>(
    `SELECT event_transaction_id()::text AS own, (pg_snapshot_xmin(event_snapshot())::text::bigint - 1)::text AS past`,
  )
  return rows[0] as EventTransactions
}

/**
 * Lets the feed of webhooks begin behind the past. Its own default is no such beginning: a snapshot shows the changes of
 * its own transaction, so events that have not become deliveries would be taken for read.
 */
export async function beginFeed(
  client: pg.ClientBase,
  organizationId: string,
  { past }: EventTransactions,
): Promise<void> {
  await client.query(
    `UPDATE webhook_feeds SET window_from = format('%1$s:%1$s:', $2::bigint + 1)::pg_snapshot WHERE organization_id = $1`,
    [organizationId, past],
  )
}

/** The last number that was given to an event; 0: none was. */
export async function readEventNumber(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ last: number }>(
    'SELECT last_value - (NOT is_called)::int AS last FROM events_seq',
  )
  return rows[0]?.last ?? 0
}

/** No other writer takes so many numbers in a moment. */
const FAR = 1_000_000
/** Imports of one database run one after the other. */
const IMPORT_LOCK = 0x69_6d_70_6f

/** Waits for other imports; needs a transaction, whose end lets go. */
export async function lockImports(client: pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${IMPORT_LOCK})`)
}

/**
 * Lets the numbers of events continue above `number`. Other writers take numbers meanwhile, so it takes those up to there
 * too, or sets the sequence if they are far away.
 */
export async function raiseEventNumber(client: pg.ClientBase, number: number): Promise<void> {
  const missing = number - (await readEventNumber(client))
  if (missing <= 0) return
  if (missing < FAR) await client.query(`SELECT count(nextval('events_seq')) FROM generate_series(1, $1)`, [missing])
  else await client.query(`SELECT setval('events_seq', $1)`, [number])
}

/** Begins to collect the rows of the directory. */
export async function beginDirectory(client: pg.ClientBase, into: string): Promise<void> {
  await client.query(`CREATE TEMP TABLE ${quoted(into)} (LIKE ${DIRECTORY}) ON COMMIT DROP`)
}

// A value may be left of the organization itself, which was here before, or of a deleted one.
const TAKE_UP = (from: string) => `
  WITH taken AS (
    INSERT INTO ${DIRECTORY} AS d (kind, value_hash, organization_id)
    SELECT kind, value_hash, organization_id FROM ${quoted(from)}
    ON CONFLICT (kind, value_hash) DO UPDATE SET organization_id = excluded.organization_id
      WHERE d.organization_id = excluded.organization_id
        OR EXISTS (SELECT FROM organization_rows h WHERE h.id = d.organization_id AND h.deleted_at IS NOT NULL)
    RETURNING d.kind, d.value_hash
  )
  SELECT DISTINCT m.kind FROM ${quoted(from)} m
  WHERE NOT EXISTS (SELECT FROM taken t WHERE t.kind = m.kind AND t.value_hash = m.value_hash)
  ORDER BY m.kind`

/** Writes the collected rows. Returns the kinds of the values that other organizations hold. */
export async function takeUpDirectory(client: pg.ClientBase, from: string): Promise<string[]> {
  const { rows } = await client.query<{ kind: string }>(TAKE_UP(from))
  return rows.map(({ kind }) => kind)
}

const ENQUEUE_INDEXING = enqueueJobs({
  task: 'index_conversation',
  key: 'id',
  payload: "jsonb_build_object('contactId', id)",
  from: `contacts WHERE organization_id = $1 AND last_seq - greatest(searchable_seq, pruned_seq) >= ${INDEX_STEP}`,
})

/** Has the words of its long conversations indexed when the organization works. */
export async function enqueueIndexings(client: pg.ClientBase, organizationId: string): Promise<void> {
  await client.query(ENQUEUE_INDEXING, [organizationId])
}

/** Ends the forward of an organization that has come back. */
export async function endForward(client: pg.ClientBase, organizationId: string): Promise<void> {
  await client.query('DELETE FROM forwards WHERE organization_id = $1', [organizationId])
}

/** Whether there is a row of the organization: it works, is suspended, or is being deleted. */
export async function hasOrganizationRow(client: pg.ClientBase, organizationId: string): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM organization_rows WHERE id = $1', [organizationId])
  return rows.length > 0
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function uuid(text: string): string {
  if (!/^[0-9a-f-]{36}$/.test(text)) throw new Error(`${text} is no id`)
  return text
}
