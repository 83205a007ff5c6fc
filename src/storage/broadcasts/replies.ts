import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { Template } from '../../model/templates/template.js'

/** The message of a broadcast's recipient, with its template as sent. */
export interface BroadcastMessage {
  broadcast_id: string
  recipient_n: number
  template: Template
}

/** The message that a reply answers; the fields are null if it belongs to no broadcast. */
export type AnsweredMessage = BroadcastMessage | Record<keyof BroadcastMessage, null>

/** How many of a contact's newest broadcast messages are searched for the one that a reply means. */
const LATEST = 100

const CONTACT = '(SELECT contact_id FROM messages WHERE organization_id = $1 AND id = $2)'

const findAnswered = statement<AnsweredMessage>(
  'broadcastReplies.findAnswered',
  `SELECT m.broadcast_id, m.recipient_n, b.template
   FROM messages m
   LEFT JOIN broadcasts b ON b.organization_id = $1 AND b.id = m.campaign_id
   WHERE m.organization_id = $1 AND m.upstream_id = $3 AND m.contact_id = ${CONTACT}`,
)

const findCategory = statement<{ category: string | null }>(
  'broadcastReplies.findCategory',
  `SELECT coalesce(b.template ->> 'category', t.category) AS category
   FROM messages m
   LEFT JOIN broadcasts b ON b.organization_id = $1 AND b.id = m.campaign_id
   LEFT JOIN templates t ON t.organization_id = $1 AND m.message_type = 'template'
     AND t.name = m.content ->> 'name' AND t.language = m.content ->> 'language'
   WHERE m.organization_id = $1 AND m.upstream_id = $3 AND m.contact_id = ${CONTACT}`,
)

const listLatest = statement<BroadcastMessage>(
  'broadcastReplies.listLatest',
  `SELECT m.broadcast_id, m.recipient_n, b.template
   FROM messages m
   JOIN broadcasts b ON b.organization_id = $1 AND b.id = m.campaign_id
   WHERE m.organization_id = $1 AND m.contact_id = ${CONTACT} AND m.broadcast_id IS NOT NULL
   ORDER BY m.recorded_at DESC, m.id DESC
   LIMIT ${LATEST}`,
)

const recordClick = statement<never>(
  'broadcastReplies.recordClick',
  `WITH pressed AS (
     UPDATE broadcast_recipients
     SET clicked = clicked || $4::text
     WHERE organization_id = $1 AND broadcast_id = $2 AND n = $3 AND NOT $4 = ANY (clicked)
     RETURNING campaign_id, cardinality(clicked) = 1 AS is_first
   )
   INSERT INTO campaign_deltas (organization_id, campaign_id, counter, detail, change)
   SELECT $1, campaign_id, 'button', $4, 1 FROM pressed
   UNION ALL
   SELECT $1, campaign_id, 'clicked', '', 1 FROM pressed WHERE is_first`,
)

// The upstream's times are whole seconds, so a reply may seem to precede a message of the same second.
const countOptOutOf = (name: string, contact: string) =>
  statement<never>(
    name,
    `WITH sent AS (
     SELECT broadcast_id, recipient_n, accepted_at
     FROM messages
     WHERE organization_id = $1 AND contact_id = ${contact} AND broadcast_id IS NOT NULL
     ORDER BY recorded_at DESC, id DESC
     LIMIT ${LATEST}
   ), opted_out AS (
     UPDATE broadcast_recipients r
     SET opted_out_at = $3
     FROM sent
     WHERE r.organization_id = $1 AND r.broadcast_id = sent.broadcast_id AND r.n = sent.recipient_n AND r.opted_out_at IS NULL
       AND date_trunc('second', sent.accepted_at) <= $3 AND $3 <= sent.accepted_at + interval '48 hours'
     RETURNING r.campaign_id
   )
   INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
   SELECT $1, campaign_id, 'opted_out', count(*) FROM opted_out GROUP BY campaign_id`,
  )

const countOptOut = countOptOutOf('broadcastReplies.countOptOut', CONTACT)
const countWish = countOptOutOf('broadcastReplies.countWish', '$2')

/**
 * The message with the given upstream id if it is in the conversation of the reply `messageId`; null if there is none.
 */
export async function findAnsweredMessage(
  db: Queryable,
  organizationId: string,
  messageId: string,
  upstreamId: string,
): Promise<AnsweredMessage | null> {
  const [answered] = await db.run(findAnswered, [organizationId, messageId, upstreamId])
  return answered ?? null
}

/** The category of the template in the message with the given upstream id; null if it is unknown. */
export async function findAnsweredCategory(
  db: Queryable,
  organizationId: string,
  messageId: string,
  upstreamId: string,
): Promise<string | null> {
  const [answered] = await db.run(findCategory, [organizationId, messageId, upstreamId])
  return answered?.category ?? null
}

/** The latest broadcast messages in the conversation of the reply `messageId`, newest first. */
export function listLatestBroadcastMessages(
  db: Queryable,
  organizationId: string,
  messageId: string,
): Promise<BroadcastMessage[]> {
  return db.run(listLatest, [organizationId, messageId])
}

/** Records that a recipient pressed a button and counts it, once per button. */
export async function recordButtonClick(
  db: Queryable,
  organizationId: string,
  { broadcast_id, recipient_n }: BroadcastMessage,
  button: string,
): Promise<void> {
  await db.run(recordClick, [organizationId, broadcast_id, recipient_n, button])
}

/**
 * Counts the reply `messageId` of the given time as an opt-out in each broadcast sent to its contact within the 48
 * hours before, once per recipient.
 */
export async function countReplyAsOptOut(
  db: Queryable,
  organizationId: string,
  messageId: string,
  at: Date,
): Promise<void> {
  await db.run(countOptOut, [organizationId, messageId, at])
}

/** Counts a wish that the contact expressed at that time in WhatsApp itself in the same way. */
export async function countWishAsOptOut(
  db: Queryable,
  organizationId: string,
  contactId: string,
  at: Date,
): Promise<void> {
  await db.run(countWish, [organizationId, contactId, at])
}
