import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEndpoint } from '../core/webhooks/support.js'
import { contact, conversation, createContact, receiveMessages, textMessage } from '../interfaces/hooks/support.js'
import { loadStatements } from '../support/statements.js'
import { startWorld, type TestOrganization, type World } from '../support/world.js'

/** A node of a plan as auto_explain tells of it; the rows are those of one loop. */
interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Total Cost': number
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

const PEOPLE = 5_000
const ROWS = 100_000
const LARGE = new Set(['contacts', 'contact_addresses', 'contact_activity', 'messages', 'events', 'webhook_deliveries'])
/** Where a server's jit_above_cost stands by default. */
const JIT_ABOVE_COST = 100_000
/** Totals of a list, which read what they count. */
const COUNTING = ['webhookLog.count']
/**
 * These look up what they want whatever is known of the tables. The statements that record messages and statuses, and find contacts,
 * may read whole tables by plans made for empty ones, until the server has analysed them (within a minute, by default).
 */
const WITHOUT_STATISTICS = [
  'events.readWindows',
  'webhookDeliveries.insert',
  'webhookDeliveries.promote',
  'webhookDeliveries.readDue',
  'webhookDeliveries.record',
]
/** More than any page, batch or round of what is done here holds. */
const MAX_ROWS_READ = 2_000
const NUMBER = '16505550001'

let world: World
let organization: TestOrganization
let names: Map<string, string>
let plans: { text: string; root: PlanNode }[] = []

beforeAll(async () => {
  world = await startWorld()
  names = new Map((await loadStatements()).map(({ name, text }) => [text.trim(), name]))
  organization = await world.createOrganization()
  await createContact(world, organization, `+${NUMBER}`)
  await startEndpoint(world, organization)
  // The tables are not looked at in between: what is known of them is what this test says.
  for (const table of LARGE) await world.database.pool.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)
  await explainAll()
  await work()
  await fill()
}, 120_000)

afterAll(() => world.close())

/** Has every connection tell the plans of its statements, which are those for any parameters: made once, and kept. */
async function explainAll(): Promise<void> {
  const settings = `
    LOAD 'auto_explain';
    SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; SET auto_explain.log_timing = off;
    SET auto_explain.log_format = json; SET auto_explain.log_level = notice; SET plan_cache_mode = force_generic_plan`
  const { pool } = world.database
  const clients: PoolClient[] = []
  // All but the one that the process lives by.
  while (clients.length < (pool.options.max ?? 0) - 1) clients.push(await pool.connect())
  for (const client of clients) {
    await client.query(settings)
    client.on('notice', ({ message = '' }) => {
      const found = /plan:\s*(\{.*\})\s*$/s.exec(message)?.[1]
      if (found === undefined) return
      const { 'Query Text': text, Plan: root } = JSON.parse(found) as { 'Query Text': string; Plan: PlanNode }
      plans.push({ text, root })
    })
    client.release()
  }
}

/** What a service does all day. */
async function work(): Promise<void> {
  const { key } = organization
  const body = { phone_number: `+${NUMBER}`, message_type: 'text', text: 'Hello' }
  expect((await world.request('POST', '/send-chat', { key, body })).status).toBe(200)
  await receiveMessages(world, organization, textMessage(NUMBER, 'Good morning'))
  await world.settle()
  expect((await conversation(world, organization, NUMBER)).status).toBe(200)
  expect((await contact(world, organization, NUMBER)).status).toBe(200)
  const paths = ['/events?limit=10', '/events?after=latest', '/get-webhooks', '/webhook-deliveries']
  for (const path of paths) expect((await world.request('GET', path, { key })).status).toBe(200)
}

/** Rows as the service would have written them, of other people than the one that is worked with. */
async function fill(): Promise<void> {
  const values = [organization.id]
  const run = (text: string) => world.database.pool.query(text, values)
  await run(
    `WITH made AS (
       INSERT INTO contacts (organization_id, id, chat_id, phone_number, last_seq)
       SELECT $1, gen_random_uuid(), 5511900000000 + n, '+' || 5511900000000 + n, ${ROWS / PEOPLE}
       FROM generate_series(1, ${PEOPLE}) n RETURNING *
     ), active AS (
       INSERT INTO contact_activity (organization_id, contact_id, active_at) SELECT $1, id, now() - interval '1 hour' FROM made
     ), addresses AS (
       INSERT INTO contact_addresses (organization_id, address, contact_id) SELECT $1, chat_id, id FROM made
     )
     INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, status, created_at)
     SELECT $1, gen_random_uuid(), made.id, n, 'wamid.' || gen_random_uuid(), 'user-chat', 'text', 'Hello', 'delivered', now()
     FROM made, generate_series(1, ${ROWS / PEOPLE}) n`,
  )
  await run(
    `WITH raised AS (
       INSERT INTO events (organization_id, id, type, contact_id, data, created_at)
       SELECT $1, gen_random_uuid(), 'contact.created', c.id, jsonb_build_object('contact', to_jsonb(c)), now() - interval '1 hour'
       FROM contacts c, generate_series(1, ${ROWS / PEOPLE}) RETURNING *
     )
     INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order, status)
     SELECT r.organization_id, gen_random_uuid(), w.id, r.seq, r.id, r.type, r.contact_id, true, 'delivered'
     FROM raised r JOIN webhooks w USING (organization_id)`,
  )
  // The events just raised have been handed on.
  await run(
    'UPDATE webhook_feeds SET window_from = pg_current_snapshot(), window_to = NULL, seq = NULL, holder = NULL WHERE organization_id = $1',
  )
  await world.drain()
}

/** What is wrong with the plans by which all of that is done, by statement. */
async function findFaults(): Promise<Map<string, string[]>> {
  plans = []
  await work()
  expect(plans.length).toBeGreaterThan(50)
  const faults = new Map<string, string[]>()
  for (const { text, root } of plans) {
    const scans = nodesOf(root).filter((node) => LARGE.has(node['Relation Name'] ?? '') && node['Actual Loops'] > 0)
    const read = scans.reduce((sum, scan) => sum + rowsReadBy(scan), 0)
    const found = [
      ...(read > MAX_ROWS_READ ? [`reads ${read} rows by ${scans.map((scan) => scan['Node Type']).join(', ')}`] : []),
      ...(root['Total Cost'] > JIT_ABOVE_COST ? [`is expected to cost ${root['Total Cost']}`] : []),
    ]
    if (found.length > 0) faults.set(names.get(text.trim()) ?? text.slice(0, 300), found)
  }
  return faults
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

function rowsReadBy(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return (node['Actual Rows'] + removed) * node['Actual Loops']
}

describe('the plans for any parameters', () => {
  it('of events and deliveries read no more than they need where they were made for empty tables', async () => {
    const faults = [...(await findFaults())].filter(([name]) => WITHOUT_STATISTICS.includes(name))
    expect(Object.fromEntries(faults)).toEqual({})
  })

  it('read no more than they need, and are below what calls the JIT compiler, once the tables have been analysed', async () => {
    await world.database.pool.query('ANALYZE')
    const faults = await findFaults()
    for (const name of COUNTING) faults.delete(name)
    expect(Object.fromEntries(faults)).toEqual({})
  })
})
