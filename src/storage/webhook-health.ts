import type { Queryable } from '../database/pool.js'
import { opaqueArray, statement } from '../database/statement.js'
import type { Webhook } from '../model/webhook.js'
import { eventWebhook } from './webhooks.js'

/** What it takes to deliver to a webhook. The secrets are sealed. */
export type EndpointRow = Pick<
  Webhook,
  | 'organization_id'
  | 'id'
  | 'url'
  | 'events'
  | 'secret'
  | 'previous_secret'
  | 'previous_secret_until'
  | 'failing_since'
  | 'since_seq'
>

const listActive = statement<EndpointRow>(
  'webhookHealth.listActive',
  `SELECT organization_id, id, url, events, secret, previous_secret, previous_secret_until, failing_since, since_seq
   FROM webhooks
   WHERE organization_id = ANY (${opaqueArray('$1', 'uuid')}) AND active`,
)

const noteFailing = statement<never>(
  'webhookHealth.noteFailing',
  `UPDATE webhooks w SET failing_since = g.failing_since
   FROM json_to_recordset($1) AS g (organization_id uuid, id uuid, failing_since timestamptz)
   WHERE w.organization_id = g.organization_id AND w.id = g.id`,
)

const disable = statement<never>(
  'webhookHealth.disable',
  `WITH disabled AS (
     UPDATE webhooks SET active = false, disabled_reason = $3, updated_at = now()
     WHERE organization_id = $1 AND id = $2 AND active
     RETURNING *
   )
   INSERT INTO events (organization_id, id, type, data)
   SELECT $1, $4, 'webhook.disabled',
     jsonb_build_object('webhook', ${eventWebhook('disabled')}, 'reason', $3::text)
   FROM disabled`,
)

/** The webhooks of these organizations that are delivered to. */
export function listEndpoints(db: Queryable, organizationIds: readonly string[]): Promise<EndpointRow[]> {
  return db.run(listActive, [organizationIds])
}

/** Notes since when webhooks have answered nothing but failures; null: they have not. */
export async function noteFailingSince(
  db: Queryable,
  webhooks: readonly Pick<Webhook, 'organization_id' | 'id' | 'failing_since'>[],
): Promise<void> {
  await db.run(noteFailing, [JSON.stringify(webhooks)])
}

/** Delivers to a webhook no more, and raises webhook.disabled; `reason` is for people. */
export async function disableWebhook(
  db: Queryable,
  organizationId: string,
  webhookId: string,
  reason: string,
  eventId: string,
): Promise<void> {
  await db.run(disable, [organizationId, webhookId, reason, eventId])
}
