import { newId } from '../../src/lib/bytes/id.js'
import type { TestOrganization, World } from './world.js'

/** A URL without a listener. */
export const URL_OF_NOBODY = 'http://127.0.0.1:9/hook'

/** An id that does not exist. */
export const NO_ID = '00000000-0000-7000-8000-000000000000'

/** Creates a webhook, which must succeed. Resolves to the answer with its secret. */
export async function setWebhook(
  world: World,
  { key }: TestOrganization,
  fields: object = {},
): Promise<{ id: string; secret: string; updated_at: string }> {
  const body = { url: URL_OF_NOBODY, events: ['*'], ...fields }
  const answer = await world.request('POST', '/set-webhooks', { key, body })
  if (answer.status !== 201) throw new Error(`webhook: ${JSON.stringify(answer.body)}`)
  return answer.body.webhook
}

/** Stores a delivery of an event, by default the newest one, as if it had been dispatched. Resolves to its id. */
export async function insertDelivery(
  { database }: World,
  { id: organizationId }: TestOrganization,
  webhookId: string,
  fields: { status?: string; attempts?: object[]; next_attempt_at?: Date | null; eventId?: string } = {},
): Promise<string> {
  const { status = 'delivered', attempts = [], next_attempt_at = null, eventId = null } = fields
  const id = newId()
  const { rowCount } = await database.pool.query(
    `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order,
       status, attempts, next_attempt_at)
     SELECT $1, $2, $3, seq, id, type, contact_id, true, $4, $5, $6
     FROM events WHERE organization_id = $1 AND ($7::uuid IS NULL OR id = $7) ORDER BY seq DESC LIMIT 1`,
    [organizationId, id, webhookId, status, JSON.stringify(attempts), next_attempt_at, eventId],
  )
  if (rowCount !== 1) throw new Error('there is no such event')
  return id
}

/** As if the process had died before it answered. */
export async function forgetAnswers({ database }: World): Promise<void> {
  await database.pool.query('UPDATE idempotency_keys SET status = NULL, answer = NULL')
}
