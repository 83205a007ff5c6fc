import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { WebhookInstance } from '../../model/instances/gateway-event.js'
import type { OwnNumber } from '../../model/organizations/own-number.js'
import type { Webhook } from '../../model/webhooks/webhook.js'
import { raiseEvents } from '../events/raise.js'
import { eventWebhook } from './webhooks.js'

/** What the dispatcher needs of a webhook. Secrets and headers are encrypted. */
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
  | 'by_events'
  | 'with_base64'
  | 'headers'
> & {
  /** The instance; null for a webhook of the organization. */
  instance: WebhookInstance | null
  /** The organization's business numbers; null for a webhook of an instance. */
  numbers: Pick<OwnNumber, 'instance_id' | 'phone_number_id' | 'facts' | 'owner'>[] | null
}

/** Looked up only for webhooks of instances. */
const INSTANCE = `CASE WHEN w.instance_id IS NOT NULL THEN (
       SELECT json_build_object('id', i.id, 'name', i.name, 'kind', i.kind, 'phone_number_id', i.phone_number_id, 'owner', i.owner)
       FROM instances i WHERE i.organization_id = w.organization_id AND i.id = w.instance_id
     ) END`

/** What its messages went through, looked up only for webhooks of the organization. */
const NUMBERS = `CASE WHEN w.instance_id IS NULL THEN (
       SELECT json_agg(json_build_object('instance_id', n.instance_id, 'phone_number_id', n.phone_number_id, 'owner', n.owner,
         'facts', json_build_object('display_phone_number', s.facts ->> 'display_phone_number')))
       FROM (
         SELECT NULL::uuid AS instance_id, u.phone_number_id, NULL::text AS owner
         FROM upstream_settings u WHERE u.organization_id = w.organization_id
         UNION ALL
         SELECT i.id, i.phone_number_id, i.owner FROM instances i
         WHERE i.organization_id = w.organization_id AND i.kind = 'business_api' AND i.phone_number_id IS NOT NULL
       ) n LEFT JOIN number_states s ON s.organization_id = w.organization_id AND s.phone_number_id = n.phone_number_id
     ) END`

const ENDPOINTS = `SELECT w.organization_id, w.id, w.url, w.events, w.secret, w.previous_secret, w.previous_secret_until,
     w.failing_since, w.since_seq, w.by_events, w.with_base64, w.headers, ${INSTANCE} AS instance,
     ${NUMBERS} AS numbers
   FROM webhooks w`

const listActive = sharedStatement<EndpointRow>(
  'webhookHealth.listActive',
  `${ENDPOINTS}
   WHERE w.organization_id = ANY ($1::uuid[]) AND w.active`,
)

const find = statement<EndpointRow>(
  'webhookHealth.find',
  `${ENDPOINTS}
   WHERE w.organization_id = $1 AND w.id = $2`,
)

const lock = sharedStatement<{ id: string; failing_since: Date | null }>(
  'webhookHealth.lock',
  `SELECT w.id, w.failing_since
   FROM json_to_recordset($1) AS g (organization_id uuid, id uuid)
   JOIN webhooks w ON w.organization_id = g.organization_id AND w.id = g.id
   FOR NO KEY UPDATE OF w`,
)

const noteFailing = sharedStatement<never>(
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
   ${raiseEvents({
     from: 'disabled WHERE disabled.instance_id IS NULL',
     id: '$4',
     type: "'webhook.disabled'",
     data: `jsonb_build_object('webhook', ${eventWebhook('disabled')}, 'reason', $3::text)`,
   })}`,
  { raises: 'events' },
)

/** Since when webhooks have only failed, by id; null: they have not. Locks them until the transaction ends. */
export async function lockHealth(
  transaction: Queryable,
  webhooks: readonly Pick<Webhook, 'organization_id' | 'id'>[],
): Promise<Map<string, Date | null>> {
  const rows = await transaction.run(lock, [JSON.stringify(webhooks)])
  return new Map(rows.map(({ id, failing_since }) => [id, failing_since]))
}

/** The active webhooks of these organizations. */
export function listEndpoints(db: Queryable, organizationIds: readonly string[]): Promise<EndpointRow[]> {
  return db.run(listActive, [organizationIds])
}

/** A webhook of the organization in the dispatcher's form, active or not; null if there is none. */
export async function findEndpoint(
  db: Queryable,
  organizationId: string,
  webhookId: string,
): Promise<EndpointRow | null> {
  const rows = await db.run(find, [organizationId, webhookId])
  return rows[0] ?? null
}

/** Stores since when webhooks have only failed; null: they have not. */
export async function noteFailingSince(
  db: Queryable,
  webhooks: readonly Pick<Webhook, 'organization_id' | 'id' | 'failing_since'>[],
): Promise<void> {
  await db.run(noteFailing, [JSON.stringify(webhooks)])
}

/** Disables a webhook and raises webhook.disabled; `reason` is shown to users. */
export async function disableWebhook(
  db: Queryable,
  organizationId: string,
  webhookId: string,
  reason: string,
): Promise<void> {
  await db.raise(disable, [organizationId, webhookId, reason, newId()], [organizationId])
}
