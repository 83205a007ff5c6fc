import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { Webhook } from '../../model/webhooks/webhook.js'
import { lockFeed } from '../webhooks/feeds.js'
import { enqueueSweep, ensureFeed, WEBHOOK_COLUMNS } from '../webhooks/webhooks.js'

// When enabled, it gets the events from then on.
const put = statement<Webhook>(
  'instanceWebhooks.put',
  `INSERT INTO webhooks AS w (organization_id, instance_id, id, url, events, secret, active, by_events, with_base64, headers)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
   ON CONFLICT (organization_id, instance_id) WHERE instance_id IS NOT NULL DO UPDATE
   SET url = excluded.url, events = excluded.events, active = excluded.active, by_events = excluded.by_events,
     with_base64 = excluded.with_base64, headers = excluded.headers, disabled_reason = NULL, failing_since = NULL,
     since_seq = CASE WHEN excluded.active AND NOT w.active THEN nextval('events_seq') ELSE w.since_seq END,
     updated_at = now()
   RETURNING ${WEBHOOK_COLUMNS}`,
)

const switchOff = statement<Webhook>(
  'instanceWebhooks.switchOff',
  `UPDATE webhooks SET active = false, updated_at = CASE WHEN active THEN now() ELSE updated_at END
   WHERE organization_id = $1 AND instance_id = $2
   RETURNING ${WEBHOOK_COLUMNS}`,
)

const find = statement<Webhook>(
  'instanceWebhooks.find',
  `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE organization_id = $1 AND instance_id = $2`,
)

const remove = statement<{ id: string }>(
  'instanceWebhooks.delete',
  `WITH deleted AS (
     DELETE FROM webhooks WHERE organization_id = $1 AND instance_id = $2 RETURNING id
   ), feed AS (
     DELETE FROM webhook_feeds
     WHERE organization_id = $1 AND NOT EXISTS (
       SELECT FROM webhooks WHERE organization_id = $1 AND instance_id IS DISTINCT FROM $2
     )
   ), job AS (
     ${enqueueSweep('deleted')}
   )
   SELECT id FROM deleted`,
  { enqueues: 'now' },
)

/**
 * The columns of an instance's webhook; secret and headers are encrypted. Id and secret are used only for a new one.
 */
export type InstanceWebhookRow = Pick<
  Webhook,
  'id' | 'url' | 'events' | 'secret' | 'active' | 'by_events' | 'with_base64' | 'headers'
>

/**
 * Inserts the instance's webhook, and the organization's feed with its first one, or updates the existing webhook.
 * Needs a transaction, like insertWebhook. Fails with a foreign key violation if there is no such instance.
 */
export async function putInstanceWebhook(
  transaction: Queryable,
  organizationId: string,
  instanceId: string,
  { id, url, events, secret, active, by_events, with_base64, headers }: InstanceWebhookRow,
): Promise<Webhook> {
  await ensureFeed(transaction, organizationId)
  const values = [organizationId, instanceId, id, url, events, secret, active, by_events, with_base64, headers]
  const [webhook] = await transaction.run(put, values)
  return webhook as Webhook
}

/** Switches the instance's webhook off; null if it has none. */
export async function switchOffInstanceWebhook(
  db: Queryable,
  organizationId: string,
  instanceId: string,
): Promise<Webhook | null> {
  const rows = await db.run(switchOff, [organizationId, instanceId])
  return rows[0] ?? null
}

/** The instance's webhook, or null. */
export async function findInstanceWebhook(
  db: Queryable,
  organizationId: string,
  instanceId: string,
): Promise<Webhook | null> {
  const rows = await db.run(find, [organizationId, instanceId])
  return rows[0] ?? null
}

/**
 * Deletes the instance's webhook, and the feed with the organization's last one, and adds a job that deletes its
 * deliveries; false if it has none. Call it before the instance is deleted, in the same transaction.
 */
export async function deleteInstanceWebhook(
  transaction: Queryable,
  organizationId: string,
  instanceId: string,
): Promise<boolean> {
  await lockFeed(transaction, organizationId)
  const rows = await transaction.run(remove, [organizationId, instanceId])
  return rows.length > 0
}
