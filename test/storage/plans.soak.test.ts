import { beforeAll, describe, expect, it } from 'vitest'
import { applyRetention } from '../../src/core/maintenance/retention.js'
import { previewRetention } from '../../src/core/maintenance/retention-preview.js'
import { getOrganization } from '../../src/core/organizations/organizations.js'
import { newId } from '../../src/lib/bytes/id.js'
import { receiveMessages, textMessage } from '../support/callbacks.js'
import { type SignedInMember, signIn } from '../support/console.js'
import { contact, createContact } from '../support/contacts.js'
import { conversation } from '../support/conversations.js'
import { createInstance, scan } from '../support/instances.js'
import { type RunPlan, watchPlans } from '../support/plans.js'
import { startEndpoint } from '../support/webhook-endpoints.js'
import { useOrganization, useWorld } from '../support/world.js'

const PEOPLE = 5_000
const MESSAGES_EACH = 10
const EVENTS_EACH = 20
/** The number of the conversation that is long. */
const NUMBER = '16505550001'
const LONG = 10_000
/** The default of jit_above_cost. */
const JIT_ABOVE_COST = 100_000
/** More rows than any page, batch or round here. */
const MAX_ROWS = 2_000
const MAX_PAGES = 4_000
/**
 * Those that are held to their limits without statistics, too: what a send, a callback, a status, a broadcast, a
 * conversation, the feeds of webhooks and the deletion of old messages run. In others an index of the table's key and one that only begins with the
 * organization can seem equal until autovacuum has looked, and which one is taken is left to chance.
 */
const HOT = new Set([
  'broadcastAudiences.prepare',
  'broadcastRecipients.findPending',
  'broadcasts.complete',
  'callbacks.complete',
  'callbacks.listWaiting',
  'callbacks.take',
  'contactLists.read',
  'contacts.findByAddresses',
  'contacts.findById',
  'events.readWindows',
  'inbox.read',
  'inbox.walk',
  'incoming.record',
  'instanceMessages.pageConversation.every.DESC',
  'messagePruning.findDue',
  'messagePruning.findFiles',
  'messagePruning.lockNumbered',
  'messagePruning.lockUnnumbered',
  'messagePruning.remove',
  'messages.withContact',
  'outgoing.accept',
  'outgoing.record',
  'statuses.apply',
  'threads.range',
  'webhookLog.listAll',
])

/** Rows and pages that these may read, and what for. */
const MAY_READ: Record<string, { rows: number; pages: number }> = {
  // Totals of lists read what they count, and a page of a conversation that several connections share is counted out.
  'contactLists.countFound': { rows: 3 * PEOPLE, pages: 4_000 },
  'webhookLog.countAll': { rows: 10_100, pages: 4_000 },
  'webhookLog.countOfStatus': { rows: 10_100, pages: 4_000 },
  // A filtered page looks through 10,000 events.
  'events.readFilteredWindow': { rows: 10_100, pages: 4_000 },
  'instanceMessages.countConversation.every': { rows: LONG + 100, pages: 4_000 },
  'instanceMessages.pageConversation.every.DESC': { rows: LONG + 100, pages: 4_000 },
  // Those of a tag are looked for among all contacts, once for a batch.
  'broadcastAudiences.extend': { rows: PEOPLE + 100, pages: PEOPLE + 100 },
  // Each of a thousand contacts is looked at, with its next message and its reactions.
  'messagePruning.findDue': { rows: 3_100, pages: 12_000 },
  // A preview looks at a thousand contacts at a time, likewise, and at 100,000 events.
  'retentionPreview.messages': { rows: 5_100, pages: 20_000 },
  'retentionPreview.events': { rows: 100_100, pages: 120_000 },
  // The inbox is walked down contact by contact.
  'inbox.edge': { rows: PEOPLE + 100, pages: 4_000 },
  'inbox.walk': { rows: 2 * PEOPLE, pages: 4 * PEOPLE },
}

const world = useWorld()
const organization = useOrganization(world)
let agent: SignedInMember
let contactId: string
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  agent = await signIn(world, organization)
  contactId = await createContact(world, organization, `+${NUMBER}`, { full_name: 'Ana', tags: ['worked'] })
  await startEndpoint(world, organization)
  expect((await world.request('POST', '/templates/sync', { key: organization.key })).status).toBe(200)
  await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX', number: '16505550900' })
  expect((await ask('GET', '/gateway/instance/connect/phone')).status).toBe(200)
  await scan(world, organization, 'phone', '16505550900')
  await world.settle()
  // The tables are not analyzed in between: the test controls the statistics.
  const { rows } = await world.database.pool.query(`SELECT oid::regclass AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`)
  for (const { name } of rows) await world.database.pool.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`)
  explain = await watchPlans(world.database)
  await work()
  await fill()
})

const ask = (method: string, path: string, body?: unknown) =>
  world.request(method, path, { key: organization.key, ...(body === undefined ? {} : { body }) })

/** The everyday work of a service. */
async function work(): Promise<void> {
  const text = { phone_number: `+${NUMBER}`, message_type: 'text', text: 'Hello' }
  expect((await ask('POST', '/send-chat', text)).status).toBe(200)
  const greeting = `Good morning ${Date.now()}`
  await receiveMessages(world, organization, textMessage(NUMBER, greeting))
  await world.settle()
  expect((await conversation(world, organization, NUMBER)).status).toBe(200)
  const newest = await ask('GET', `/conversations?chatNumber=${NUMBER}&limit=2`)
  expect(newest.body.messages.map(({ message }: { message: string }) => message)).toContain(greeting)
  for (const { id } of newest.body.messages) expect((await ask('GET', `/messages/${id}/trace`)).status).toBe(200)
  await broadcast()
  await goThroughGateway()
  expect((await contact(world, organization, NUMBER)).status).toBe(200)
  for (const path of [
    '/events?limit=10',
    '/events?after=latest',
    '/get-webhooks',
    '/webhook-deliveries',
    '/webhook-deliveries?status=delivered',
    `/conversations?chatNumber=${NUMBER}&page=100&limit=50`,
    `/conversations?chatNumber=${NUMBER}&page=100&limit=50&ascending=true`,
    '/conversations?action=contacts',
    '/conversations?action=contacts&page=30&limit=50',
    '/conversations?action=contacts&search=p49',
    '/conversations?action=contacts&search=%2B5511900004999',
  ]) {
    expect((await ask('GET', path)).status, path).toBe(200)
  }
  await lookAtInbox()
  await forget()
}

/** The oldest message of the conversation. */
async function forget(): Promise<void> {
  await world.database.pool.query(
    `UPDATE messages m SET recorded_at = now() - interval '2 years'
     FROM contacts c
     WHERE c.organization_id = $1 AND c.id = $2 AND m.organization_id = $1 AND m.contact_id = c.id AND m.seq = c.pruned_seq + 1`,
    [organization.id, contactId],
  )
  await world.admin('PATCH', `/organizations/${organization.id}`, { message_retention_days: 365 })
  const { ctx } = world.app
  await previewRetention(ctx, await getOrganization(ctx, organization.id))
  expect(await applyRetention(ctx, organization.id, {})).toBeNull()
}

/** One to those of a tag, and what becomes of it. */
async function broadcast(): Promise<void> {
  const made = await ask('POST', '/broadcasts', {
    name: 'News',
    templateName: 'hello_world',
    audience: { contactIds: [contactId], tags: ['worked'] },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(202)
  const { id } = made.body.broadcast
  await world.settle()
  await world.settle()
  expect((await ask('GET', `/broadcasts/${id}`)).body.broadcast.status).toBe('completed')
  for (const query of ['', '?status=delivered', '?status=failed', '?status=skipped']) {
    expect((await ask('GET', `/broadcasts/${id}/recipients${query}`)).status, query).toBe(200)
  }
}

async function goThroughGateway(): Promise<void> {
  const sent = await ask('POST', '/gateway/message/sendText/phone', { number: NUMBER, text: 'From the phone' })
  expect(sent.status, JSON.stringify(sent.body)).toBe(201)
  await world.settle()
  const key = { remoteJid: `${NUMBER}@s.whatsapp.net` }
  for (const body of [{}, { page: 50 }, { where: { key } }, { where: { key: { id: sent.body.key.id } } }]) {
    expect((await ask('POST', '/gateway/chat/findMessages/phone', body)).status, JSON.stringify(body)).toBe(200)
  }
}

async function lookAtInbox(): Promise<void> {
  for (const path of [
    '/inbox',
    '/inbox?filter=unread',
    '/inbox?filter=mine',
    '/inbox?filter=archived',
    '/inbox?tag=rare',
    '/inbox?tag=rare&filter=mine&search=p',
    '/inbox?tag=rare&search=000',
    `/inbox/${contactId}`,
    `/contacts/${contactId}/messages`,
    `/contacts/${contactId}/messages?around=5000`,
  ]) {
    expect((await agent.call('GET', path)).status, path).toBe(200)
  }
}

/** Rows as the service would write them, nearly all of other contacts than the tested one. */
async function fill(): Promise<void> {
  const values = [organization.id]
  const run = (text: string, more: unknown[] = []) => world.database.pool.query(text, [...values, ...more])
  await run(
    `WITH made AS (
       INSERT INTO contacts (organization_id, id, chat_id, phone_number, full_name, folded_name, last_seq, tags, assignee_id,
         has_unread_messages)
       SELECT $1, gen_random_uuid(), 5511900000000 + n, '+' || 5511900000000 + n, 'P' || n, 'p' || n, ${MESSAGES_EACH},
         CASE WHEN n % 1000 = 0 THEN ARRAY['rare'] ELSE '{}' END, CASE WHEN n % 1000 = 0 THEN $2::uuid END, n % 1000 = 0
       FROM generate_series(1, ${PEOPLE}) n RETURNING *
     ), active AS (
       INSERT INTO contact_activity (organization_id, contact_id, active_at) SELECT $1, id, now() - interval '1 hour' FROM made
     ), addresses AS (
       INSERT INTO contact_addresses (organization_id, address, contact_id) SELECT $1, chat_id, id FROM made
     ), counted AS (
       INSERT INTO contact_counts (organization_id, change) VALUES ($1, ${PEOPLE})
     )
     INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, status, created_at)
     SELECT $1, gen_random_uuid(), made.id, n, 'wamid.' || gen_random_uuid(), 'user-chat', 'text', 'Hello', 'delivered', now()
     FROM made, generate_series(1, ${MESSAGES_EACH}) n`,
    [agent.member.id],
  )
  await run(
    `WITH numbered AS (
       UPDATE contacts SET last_seq = last_seq + ${LONG} WHERE organization_id = $1 AND id = $2 RETURNING id, last_seq - ${LONG} AS seq
     )
     INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, status, created_at)
     SELECT $1, gen_random_uuid(), c.id, c.seq + n, 'wamid.' || gen_random_uuid(), 'user-chat', 'text', 'Hello', 'delivered', now()
     FROM numbered c, generate_series(1, ${LONG}) n`,
    [contactId],
  )
  await run(
    `WITH before AS (
       INSERT INTO broadcasts (organization_id, id, kind, name, template_name, template_language, template, status, created_at,
         prepared_n, prepared_at)
       SELECT organization_id, gen_random_uuid(), kind, name, template_name, template_language, template, status, created_at, ${PEOPLE},
         prepared_at
       FROM broadcasts, generate_series(1, 4) WHERE organization_id = $1 AND kind = 'broadcast' RETURNING id
     ), failed AS (
       INSERT INTO broadcast_failures (organization_id, broadcast_id, n) SELECT $1, id, n FROM before, generate_series(1, 500) n
     ), counted AS (
       INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
       SELECT $1, id, 'sent', 1 FROM before, generate_series(1, 500)
     )
     INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, message_id)
     SELECT $1, b.id, row_number() OVER (PARTITION BY b.id), b.id, c.id, gen_random_uuid()
     FROM before b, contacts c WHERE c.organization_id = $1`,
  )
  await run(
    `WITH raised AS (
       INSERT INTO events (organization_id, id, type, contact_id, data, created_at)
       SELECT $1, gen_random_uuid(), 'contact.created', c.id, jsonb_build_object('contact', to_jsonb(c)), now() - interval '1 hour'
       FROM contacts c, generate_series(1, ${EVENTS_EACH}) RETURNING *
     )
     INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order, status)
     SELECT r.organization_id, ($2 || lpad(to_hex(r.seq), 12, '0'))::uuid, w.id, r.seq, r.id, r.type, r.contact_id, true, 'delivered'
     FROM raised r JOIN webhooks w USING (organization_id)`,
    // In the order of time: each row of a page of random ids is on another page of the table.
    [newId().slice(0, -12)],
  )
  // The new events have been delivered.
  await run(
    'UPDATE webhook_feeds SET window_from = pg_current_snapshot(), window_to = NULL, seq = NULL WHERE organization_id = $1',
  )
  await world.drain()
}

/** The problems of the plans of this work, by statement. */
async function findFaults(isHeld: (name: string) => boolean): Promise<Record<string, string[]>> {
  const plans = await explain(work)
  const run = new Set(plans.map(({ name }) => name))
  expect([...HOT].filter((name) => !run.has(name))).toEqual([])
  const faults: Record<string, string[]> = {}
  for (const { name, cost, rows, pages, nodes } of plans) {
    const max = MAY_READ[name] ?? { rows: MAX_ROWS, pages: MAX_PAGES }
    const found = [
      ...(rows > max.rows ? [`reads ${rows} rows: ${nodes}`] : []),
      ...(pages > max.pages ? [`looks at ${pages} pages: ${nodes}`] : []),
      ...(cost > JIT_ABOVE_COST ? [`is expected to cost ${cost}`] : []),
    ]
    if (found.length > 0 && isHeld(name)) faults[name] = found
  }
  return faults
}

describe('the plans of hot statements with any parameters', () => {
  it('read no more than needed even if they were made for empty tables', async () => {
    expect(await findFaults((name) => HOT.has(name))).toEqual({})
  })

  it('read no more than needed, and cost less than the threshold of the JIT compiler, once the tables are analysed', async () => {
    await world.database.pool.query('ANALYZE')
    expect(await findFaults(() => true)).toEqual({})
  })
})
