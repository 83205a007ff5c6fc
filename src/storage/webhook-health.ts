import type { Queryable } from '../database/pool.js'
import { opaqueArray, statement } from '../database/statement.js'
import type { Webhook } from '../model/webhook.js'

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
  | 'since_transaction'
>

const listActive = statement<EndpointRow>(
  'webhookHealth.listActive',
  `SELECT organization_id, id, url, events, secret, previous_secret, previous_secret_until, failing_since,
     since_transaction::text
   FROM webhooks
   WHERE organization_id = ANY (${opaqueArray('$1', 'uuid')}) AND active`,
)

const noteFailing = statement<never>(
  'webhookHealth.noteFailing',
  'UPDATE webhooks SET failing_since = $3 WHERE organization_id = $1 AND id = $2',
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
     jsonb_build_object('webhook', to_jsonb(disabled) - 'secret' - 'previous_secret', 'reason', $3::text)
   FROM disabled`,
)

/** The webhooks of these organizations that are delivered to. */
export function listEndpoints(db: Queryable, organizationIds: readonly string[]): Promise<EndpointRow[]> {
  return db.run(listActive, [organizationIds])
}

/** Notes since when a webhook has answered nothing but failures; null: it has not. */
export async function noteFailingSince(
  db: Queryable,
  organizationId: string,
  webhookId: string,
  failingSince: Date | null,
): Promise<void> {
  await db.run(noteFailing, [organizationId, webhookId, failingSince])
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
