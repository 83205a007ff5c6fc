import { expect } from 'vitest'
import { type Held, hold } from './locks.js'
import { type Receiver, startReceiver } from './receiver.js'
import { setWebhook } from './webhooks.js'
import type { TestOrganization, World } from './world.js'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A receiver registered as a webhook. */
export interface Endpoint extends Receiver {
  id: string
  secret: string
}

const started: Receiver[] = []
const held: Held[] = []

/** Starts a receiver and registers it as a webhook of the organization. */
export async function startEndpoint(
  world: World,
  organization: TestOrganization,
  events: readonly string[] = ['*'],
): Promise<Endpoint> {
  const receiver = await startReceiver()
  started.push(receiver)
  const { id, secret } = await setWebhook(world, organization, { url: receiver.url, events })
  return Object.assign(receiver, { id, secret })
}

/** Runs a statement in a transaction that stays open until the end of the test at most. */
export async function holdOpen({ database }: World, sql: string, values: readonly unknown[]): Promise<Held> {
  const one = await hold(database, sql, values)
  held.push(one)
  return one
}

/** Closes all receivers, and releases all locks. */
export async function closeEndpoints(): Promise<void> {
  for (const one of held.splice(0)) await one.release()
  await Promise.all(started.splice(0).map((receiver) => receiver.close()))
}

/**
 * Every waiting delivery will be tried: the first one of each webhook and contact is scheduled, and so is every
 * delivery that waits for no other.
 */
export async function expectNothingStuck({ database }: Pick<World, 'database'>): Promise<void> {
  const { rows } = await database.pool.query(
    `SELECT * FROM (
       SELECT DISTINCT ON (organization_id, webhook_id, contact_id) id, event_type, contact_id, next_attempt_at
       FROM webhook_deliveries WHERE status = 'pending' AND in_order
       ORDER BY organization_id, webhook_id, contact_id, event_seq
     ) first WHERE next_attempt_at IS NULL
     UNION ALL
     SELECT id, event_type, contact_id, next_attempt_at
     FROM webhook_deliveries WHERE status = 'pending' AND NOT in_order AND next_attempt_at IS NULL`,
  )
  expect(rows).toEqual([])
}

/**
 * Raises this number of contact.updated events of a contact in one statement; its names are `from` and the following
 * numbers.
 */
export async function raise({ database }: World, contactId: string, count: number, from = 1): Promise<void> {
  await database.pool.query(
    `INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT c.organization_id, gen_random_uuid(), 'contact.updated', c.id,
       jsonb_build_object('contact', to_jsonb(c) || jsonb_build_object('full_name', n::text))
     FROM contacts c, generate_series($3::integer, $3 + $2 - 1) AS n
     WHERE c.id = $1
     ORDER BY n`,
    [contactId, count, from],
  )
}

/**
 * Raises this number of events without a contact in one statement; their template names are numbers starting with
 * `from`.
 */
export async function raiseAboutNobody({ database }: World, { id }: TestOrganization, count: number, from = 1) {
  await database.pool.query(
    `INSERT INTO events (organization_id, id, type, data)
     SELECT $1, gen_random_uuid(), 'template.status_changed',
       jsonb_build_object('template', jsonb_build_object('name', n::text, 'language', 'pt_BR', 'status', 'APPROVED'))
     FROM generate_series($3::integer, $3 + $2 - 1) AS n
     ORDER BY n`,
    [id, count, from],
  )
}

/** The names of the contacts or templates in the received events, in order. */
export function namesOf({ received }: Receiver): string[] {
  return received.map(({ body: { data } }) => data.contact?.full_name ?? data.template?.name)
}

/** The numbers starting with `from`, as names. */
export function numbers(count: number, from = 1): string[] {
  return Array.from({ length: count }, (_, index) => String(from + index))
}

/** Gives a contact a new name, which raises contact.updated. */
export async function rename(world: World, { key }: TestOrganization, contactId: string, full_name: string) {
  const found = await world.database.pool.query<{ chat_id: string }>('SELECT chat_id FROM contacts WHERE id = $1', [
    contactId,
  ])
  const path = `/contact?chat_id=${encodeURIComponent(found.rows[0]?.chat_id ?? '')}`
  const { status } = await world.request('PATCH', path, { key, body: { full_name } })
  expect(status).toBe(200)
}
