import { newId } from '../../src/lib/bytes/id.js'
import type { TestOrganization, World } from './world.js'

/** A broadcast that a test inserts into the tables. */
export interface SeededBroadcast {
  id: string
  /** The same id: a broadcast is its own campaign. */
  campaignId: string
}

/** A broadcast whose template has the given quick-reply buttons, and is of the given category. */
export async function seedBroadcast(
  { database }: Pick<World, 'database'>,
  { id: organizationId }: Pick<TestOrganization, 'id'>,
  buttons: readonly string[] = [],
  category = 'MARKETING',
): Promise<SeededBroadcast> {
  const id = newId()
  const template = {
    name: 'offer',
    language: 'pt_BR',
    status: 'APPROVED',
    category,
    parameter_format: 'POSITIONAL',
    components: [
      { type: 'BODY', text: 'An offer' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'URL', text: 'Shop', url: 'https://shop.example' },
          ...buttons.map((text) => ({ type: 'QUICK_REPLY', text })),
        ],
      },
    ],
  }
  await database.pool.query(
    `INSERT INTO broadcasts (organization_id, id, kind, name, template_name, template_language, template, status, created_at)
     VALUES ($1, $2, 'broadcast', 'Offer', 'offer', 'pt_BR', $3, 'completed', now())`,
    [organizationId, id, JSON.stringify(template)],
  )
  return { id, campaignId: id }
}

/** Inserts a recipient with a message accepted at the given time; resolves to the message's id and upstream id. */
export async function seedRecipient(
  { database }: Pick<World, 'database'>,
  { id: organizationId }: Pick<TestOrganization, 'id'>,
  { id: broadcastId, campaignId }: SeededBroadcast,
  { contactId, acceptedAt }: { contactId: string; acceptedAt: Date },
): Promise<{ messageId: string; upstreamId: string }> {
  const messageId = newId()
  const upstreamId = `wamid.SEED${messageId}`
  await database.pool.query(
    `WITH numbered AS (
       UPDATE contacts SET last_seq = last_seq + 1 WHERE organization_id = $1 AND id = $4 RETURNING last_seq
     ), recipient AS (
       INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, message_id)
       SELECT $1, $2, 1 + count(*), $3, $4, $5 FROM broadcast_recipients WHERE organization_id = $1 AND broadcast_id = $2
       RETURNING n
     )
     INSERT INTO messages (organization_id, id, contact_id, seq, upstream_id, sender_type, message_type, text, status, created_at,
       accepted_at, campaign_id, broadcast_id, recipient_n)
     SELECT $1, $5, $4, last_seq, $6, 'bot-chat', 'template', 'An offer', 'sent', $7, $7, $3, $2, n FROM numbered, recipient`,
    [organizationId, broadcastId, campaignId, contactId, messageId, upstreamId, acceptedAt],
  )
  return { messageId, upstreamId }
}

/** The counters of a campaign that are not 0, as `counter` or `counter: detail`. */
export async function countersOf(
  { database }: Pick<World, 'database'>,
  { campaignId }: SeededBroadcast,
): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ name: string; value: number }>(
    `SELECT counter || CASE WHEN detail = '' THEN '' ELSE ': ' || detail END AS name, sum(value)::int AS value
     FROM (
       SELECT campaign_id, counter, detail, change AS value FROM campaign_deltas
       UNION ALL
       SELECT campaign_id, counter, detail, value FROM campaign_counts
     ) counted
     WHERE campaign_id = $1
     GROUP BY 1 HAVING sum(value) <> 0 ORDER BY 1`,
    [campaignId],
  )
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}
