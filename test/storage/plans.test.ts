import type { PoolClient, QueryResult } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { loadStatements } from '../support/statements.js'

// Whether statements can find their rows in large tables by an index. How many they read with the plans that PostgreSQL
// chooses is counted in filled tables by plans.soak.test.ts.

/** The tables that grow with the traffic of an organization. */
const LARGE = [
  'audience_recipients',
  'broadcast_failures',
  'broadcast_recipients',
  'callbacks',
  'contact_activity',
  'contact_addresses',
  'contact_merges',
  'contact_usernames',
  'contacts',
  'early_statuses',
  'events',
  'idempotency_keys',
  'jobs',
  'media',
  'message_prices',
  'message_search',
  'messages',
  'scheduled_messages',
  'sent_links',
  'short_link_visits',
  'storefront_orders',
  'webhook_deliveries',
]
const ROWS = 100_000_000

/** What these may read, and why. */
const MAY_READ: Record<string, string> = {
  'broadcastAudiences.count': 'counts contacts, with any of some tags',
  'contactMerges.moveEvents': 'two contacts are rarely merged, and no index has the contact of an event',
  'contactAddresses.showMissing': 'looks once a day for contacts that show no user id',
  'lineCounts.sumOfOrganization': 'sums the messages of all contacts',
  'optOuts.byReply': 'without statistics an id seems to be in thousands of rows',
  'outgoing.accept': 'without statistics few addresses seem to be user ids',
  'storefrontOrders.put': 'without statistics a code seems to be of thousands of links',
  'unmerges.returnEvents': 'merges are rarely undone, and no index has the contact of an event',
  'verification.counts': 'counts all contacts again',
  'verification.events': 'looks for erasures among the jobs',
  'verification.messages': 'looks for erasures among the jobs',
  'verification.recipients': 'looks for erasures among the jobs',
}

/** A node of a plan as `EXPLAIN (FORMAT JSON)` shows it. */
interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Node[]
}

/** Nodes that pass on rows one by one, so that a LIMIT above them ends the scan below. */
const PASSING = [
  'Append',
  'Incremental Sort',
  'LockRows',
  'Merge Append',
  'Nested Loop',
  'ProjectSet',
  'Result',
  'Subquery Scan',
  'Unique',
]

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await pretend()
})

afterAll(() => database.drop())

/** Lets the planner believe in so many rows: a table has a page since a row was rolled back. */
async function pretend(): Promise<void> {
  const client = await database.pool.connect()
  await client.query(`BEGIN;
    SET LOCAL session_replication_role = replica;
    CREATE TEMPORARY TABLE large ON COMMIT DROP AS
      SELECT unnest('{${LARGE.join()}}'::regclass[]) AS name;
    DO $$
    DECLARE
      one record;
    BEGIN
      FOR one IN SELECT name, conname FROM large JOIN pg_constraint ON conrelid = name AND contype IN ('c', 'f', 'p', 'u') LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I CASCADE', one.name, one.conname);
      END LOOP;
      FOR one IN SELECT name, attname FROM large JOIN pg_attribute ON attrelid = name
        WHERE attnum > 0 AND attnotnull AND attidentity = '' LOOP
        EXECUTE format('ALTER TABLE %s ALTER %I DROP NOT NULL', one.name, one.attname);
      END LOOP;
      FOR one IN SELECT name FROM large LOOP
        EXECUTE format('INSERT INTO %s DEFAULT VALUES', one.name);
      END LOOP;
    END $$;
    ROLLBACK;
    UPDATE pg_class SET relpages = 1, reltuples = ${ROWS} WHERE oid = ANY ('{${LARGE.join()}}'::regclass[])`)
  client.release()
}

/** The plan for any parameters, with nothing but look-ups where there is a way. */
async function plan(client: PoolClient, text: string): Promise<Node> {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)))
  const values = count > 0 ? `(${Array(count).fill('NULL').join()})` : ''
  const results: unknown = await client.query(
    `PREPARE checked AS ${text}; EXPLAIN (FORMAT JSON) EXECUTE checked ${values}; DEALLOCATE checked`,
  )
  return (results as QueryResult[])[1]?.rows[0]['QUERY PLAN'][0].Plan
}

/** The scans of large tables and of their indexes, each with the nodes above it, the nearest first. */
function scansOf(node: Node, above: Node[] = []): { scan: Node; above: Node[] }[] {
  const below = (node.Plans ?? []).flatMap((child) => scansOf(child, [node, ...above]))
  return /^(Seq|Index|Index Only|Bitmap Index) Scan$/.test(node['Node Type'])
    ? [{ scan: node, above }, ...below]
    : below
}

it('a statement finds its rows in large tables by an index, or is heavy', async () => {
  const client = await database.pool.connect()
  await client.query(`SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`)
  // An index of a part of the rows is small.
  const { rows } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
     WHERE indrelid = ANY ($1::text[]::regclass[]) AND indpred IS NULL`,
    [LARGE],
  )
  const whole = new Set(rows.map(({ name }) => name))

  function faultOf({ scan, above }: { scan: Node; above: Node[] }, isHeavy: boolean): string | null {
    const { 'Relation Name': table = '', 'Index Name': index = '', 'Index Cond': condition } = scan
    if (index === '') return LARGE.includes(table) ? `reads all of ${table}` : null
    const isLimited = above.find(({ 'Node Type': type }) => !PASSING.includes(type))?.['Node Type'] === 'Limit'
    const isLookUp = /\borganization_id .* AND /.test(condition ?? '')
    if (isHeavy || isLimited || isLookUp || !whole.has(index)) return null
    return `reads the rows of an organization or of all by ${index}: ${condition ?? 'no condition'}`
  }

  const controls = [
    { name: 'control.no index', text: 'SELECT FROM messages WHERE text = $1', isHeavy: true },
    { name: 'control.no organization', text: 'SELECT FROM messages WHERE id = $1', isHeavy: false },
    { name: 'control.no key', text: 'SELECT FROM messages WHERE organization_id = $1 AND text = $2', isHeavy: false },
  ]
  const faults: Record<string, string[]> = {}
  for (const { name, text, isHeavy } of [...(await loadStatements()), ...controls]) {
    const scans = scansOf(await plan(client, text))
    const found = new Set(scans.flatMap((scan) => faultOf(scan, isHeavy) ?? []))
    if (found.size > 0 && !(name in MAY_READ)) faults[name] = [...found]
  }
  client.release(true)
  expect(faults).toEqual(Object.fromEntries(controls.map(({ name }) => [name, [expect.any(String)]])))
})
