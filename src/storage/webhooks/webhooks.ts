import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { Webhook } from '../../model/webhooks/webhook.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { lockFeed, skipEvents } from './feeds.js'

// Webhooks of instances (storage/instances/webhooks) have an instance_id; statements here exclude them unless they say
// otherwise.

export const WEBHOOK_COLUMNS = `organization_id, id, url, description, events, secret, previous_secret, previous_secret_until, active,
  disabled_reason, failing_since, since_seq, instance_id, by_events, with_base64, headers, created_at, updated_at`

/** The JSON of a webhook in events, from the row of the given name; without its secrets. */
export function eventWebhook(row: string): string {
  return `to_jsonb(${row}) - '{secret,previous_secret,previous_secret_until,headers}'::text[]`
}

// Locks the row before webhooks are added or removed. The update changes nothing; it only locks an existing row.
const ensure = statement<never>(
  'webhooks.ensureFeed',
  `INSERT INTO webhook_feeds (organization_id) VALUES ($1)
   ON CONFLICT (organization_id) DO UPDATE SET organization_id = excluded.organization_id`,
)

const insert = statement<Webhook>(
  'webhooks.insert',
  `INSERT INTO webhooks (organization_id, id, url, events, description, secret)
   SELECT $1, $2, $3, $4, $5, $6
   WHERE (SELECT count(*) FROM webhooks WHERE organization_id = $1 AND instance_id IS NULL) < $7
   RETURNING ${WEBHOOK_COLUMNS}`,
)

const list = statement<Webhook>(
  'webhooks.list',
  `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE organization_id = $1 AND instance_id IS NULL ORDER BY created_at, id`,
)

const find = statement<Webhook>(
  'webhooks.find',
  `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE organization_id = $1 AND id = $2`,
)

/** The INSERT that enqueues the deletion of deliveries, for deleted webhooks `from` of the organization $1. */
export const enqueueSweep = (from: string) =>
  enqueueJobs({ task: 'sweep_webhook', payload: `jsonb_build_object('webhookId', ${from}.id)`, from })

const remove = statement<{ id: string }>(
  'webhooks.delete',
  `WITH deleted AS (
     DELETE FROM webhooks WHERE organization_id = $1 AND id = $2 AND instance_id IS NULL RETURNING id
   ), feed AS (
     DELETE FROM webhook_feeds
     WHERE organization_id = $1 AND NOT EXISTS (
       SELECT FROM webhooks WHERE organization_id = $1 AND (id <> $2 OR instance_id IS NOT NULL)
     )
   ), job AS (
     ${enqueueSweep('deleted')}
   )
   SELECT id FROM deleted`,
  { enqueues: 'now' },
)

const rotate = statement<Webhook>(
  'webhooks.rotateSecret',
  `UPDATE webhooks SET previous_secret = secret, previous_secret_until = $4, secret = $3, updated_at = now()
   WHERE organization_id = $1 AND id = $2 AND instance_id IS NULL
   RETURNING ${WEBHOOK_COLUMNS}`,
)

const enable = statement<Webhook>(
  'webhooks.enable',
  `WITH enabled AS (
     UPDATE webhooks
     SET active = true, disabled_reason = NULL, failing_since = NULL, since_seq = nextval('events_seq'), updated_at = now()
     WHERE organization_id = $1 AND id = $2 AND instance_id IS NULL AND NOT active
     RETURNING ${WEBHOOK_COLUMNS}
   )
   SELECT ${WEBHOOK_COLUMNS} FROM enabled
   UNION ALL
   SELECT ${WEBHOOK_COLUMNS} FROM webhooks
   WHERE organization_id = $1 AND id = $2 AND instance_id IS NULL AND NOT EXISTS (SELECT FROM enabled)`,
)

/** The columns of a new webhook; the secret is encrypted. */
export type NewWebhook = Pick<Webhook, 'id' | 'url' | 'events' | 'description' | 'secret'>

/**
 * Locks the organization's feed, creating it if necessary, until the transaction ends. Call it before a webhook becomes
 * active.
 */
export async function ensureFeed(transaction: Queryable, organizationId: string): Promise<void> {
  await transaction.run(ensure, [organizationId])
  await skipEvents(transaction, organizationId)
}

/**
 * Inserts a webhook, and the feed with the first one; null if there are `max` already. Needs a transaction: the lock
 * comes first, so that the insert counts all others. Fails with a foreign key violation if there is no such
 * organization.
 */
export async function insertWebhook(
  transaction: Queryable,
  organizationId: string,
  { id, url, events, description, secret }: NewWebhook,
  max: number,
): Promise<Webhook | null> {
  await ensureFeed(transaction, organizationId)
  const rows = await transaction.run(insert, [organizationId, id, url, events, description, secret, max])
  return rows[0] ?? null
}

/** The organization's webhooks, oldest first. */
export function listWebhooks(db: Queryable, organizationId: string): Promise<Webhook[]> {
  return db.run(list, [organizationId])
}

/** A webhook of the organization or of an instance; null if there is none. */
export async function findWebhook(db: Queryable, organizationId: string, id: string): Promise<Webhook | null> {
  const rows = await db.run(find, [organizationId, id])
  return rows[0] ?? null
}

/**
 * Deletes a webhook, and the feed with the last one, and adds a job that deletes its deliveries; false if there is
 * none. Needs a transaction.
 */
export async function deleteWebhook(transaction: Queryable, organizationId: string, id: string): Promise<boolean> {
  await lockFeed(transaction, organizationId)
  const rows = await transaction.run(remove, [organizationId, id])
  return rows.length > 0
}

/** Replaces the (encrypted) secret; the old one signs too until `until`. Null if there is no such webhook. */
export async function rotateWebhookSecret(
  db: Queryable,
  organizationId: string,
  id: string,
  { secret, until }: { secret: Buffer; until: Date },
): Promise<Webhook | null> {
  const rows = await db.run(rotate, [organizationId, id, secret, until])
  return rows[0] ?? null
}

/**
 * Enables a disabled webhook for events from now on; an active one stays as it is. Null if there is none. Needs a
 * transaction.
 */
export async function enableWebhook(
  transaction: Queryable,
  organizationId: string,
  id: string,
): Promise<Webhook | null> {
  await lockFeed(transaction, organizationId)
  await skipEvents(transaction, organizationId)
  const rows = await transaction.run(enable, [organizationId, id])
  return rows[0] ?? null
}
