import type { Queryable } from '../database/pool.js'
import { statement } from '../database/statement.js'
import { type MessageError, type MessageStatus, OUTCOME_UNKNOWN } from '../model/message.js'
import { ACCEPTED_EVENT, MESSAGE_SNAPSHOT } from './messages.js'

/** A status that the upstream reports. */
export interface ReportedStatus {
  upstreamId: string
  /** Our id, where the upstream gave it back. */
  messageId: string | null
  status: MessageStatus
  at: Date
  error: MessageError | null
  /** A form of the recipient's number that may be new. */
  alias: string | null
  /** For message.sent, and for the event of the status itself. */
  eventIds: readonly [string, string]
}

// A status never goes backwards, but failed gives way to what proves the contrary (contract 4, Conversations). Whatever the
// upstream reports of a message, its failure too, settles that it was accepted, so a message that waited for its answer raises
// message.sent first. Where the upstream gave one id to two messages, ours decides, and the second goes without.
const apply = statement<{ id: string }>(
  'statuses.apply',
  `WITH before AS (
     SELECT m.id, m.status, m.outcome, m.accepted_at, m.error FROM messages m
     WHERE m.organization_id = $1 AND m.sender_type <> 'user-chat'
       AND (m.upstream_id = $2 OR (m.id = $3 AND m.upstream_id IS NULL))
     ORDER BY m.upstream_id NULLS FIRST
     LIMIT 1
     FOR UPDATE
   ), changed AS (
     UPDATE messages m
     SET upstream_id = CASE
         WHEN m.upstream_id IS NULL
           AND NOT EXISTS (SELECT FROM messages t WHERE t.organization_id = $1 AND t.upstream_id = $2) THEN $2
         ELSE m.upstream_id
       END,
       status = $4,
       outcome = NULL,
       error = $6,
       accepted_at = coalesce(m.accepted_at, $5),
       delivered_at = CASE WHEN $4 IN ('delivered', 'read') THEN coalesce(m.delivered_at, $5) ELSE m.delivered_at END,
       read_at = CASE WHEN $4 = 'read' THEN $5 ELSE m.read_at END,
       failed_at = CASE WHEN $4 = 'failed' THEN $5 END
     FROM before b
     WHERE m.organization_id = $1 AND m.id = b.id AND CASE $4::text
       WHEN 'sent' THEN b.outcome IS NOT NULL OR (b.status = 'failed' AND b.error ->> 'code' = '${OUTCOME_UNKNOWN}')
       WHEN 'delivered' THEN b.status IN ('sent', 'failed')
       WHEN 'read' THEN b.status IN ('sent', 'delivered', 'failed')
       WHEN 'failed' THEN b.status = 'sent'
     END
     RETURNING m.*
   ), alias AS (
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, $9, changed.contact_id FROM changed, before WHERE $9::text IS NOT NULL AND before.accepted_at IS NULL
     ON CONFLICT DO NOTHING
   ), sent AS (
     INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT $1, $7, ${ACCEPTED_EVENT}, m.contact_id,
       jsonb_build_object('message', ${MESSAGE_SNAPSHOT} || '{"status": "sent", "error": null}', 'contact', to_jsonb(c))
     FROM before b, changed m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
     WHERE b.accepted_at IS NULL
   ), reported AS (
     INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT $1, $8, 'message.' || $4::text, m.contact_id,
       jsonb_build_object('message', ${MESSAGE_SNAPSHOT}, 'contact', to_jsonb(c), 'previous_status', b.status)
     FROM before b, changed m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
     WHERE $4 <> 'sent'
   )
   SELECT id FROM changed`,
)

/** Applies a reported status; one of an unknown message, or one that would go backwards, changes and raises nothing. */
export async function applyStatus(db: Queryable, organizationId: string, reported: ReportedStatus): Promise<void> {
  await db.run(apply, [
    organizationId,
    reported.upstreamId,
    reported.messageId,
    reported.status,
    reported.at,
    reported.error === null ? null : JSON.stringify(reported.error),
    reported.eventIds[0],
    reported.eventIds[1],
    reported.alias,
  ])
}
