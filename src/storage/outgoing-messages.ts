import type { Queryable } from '../database/pool.js'
import { opaqueArray, statement } from '../database/statement.js'
import { isUuid } from '../lib/id.js'
import type { Message, MessageError, SenderType } from '../model/message.js'
import { MESSAGE_COLUMNS, MESSAGE_SNAPSHOT } from './messages.js'

/** A message to be recorded before the upstream is called. */
export interface OutgoingMessage {
  id: string
  sender_type: Extract<SenderType, 'bot-chat' | 'human-chat'>
  message_type: string
  text: string
  /** Id, ours or the upstream's, of the message that this one answers. */
  contextMessageId: string | null
  assignee_id: string | null
  created_at: Date
  /** For contact.updated. */
  contactEventId: string
}

/** What became of recording: refused with the reason, or recorded with what the call to the upstream needs. */
export type Recorded =
  | { recorded: false; reason: 'no_contact' }
  | { recorded: false; reason: 'blocked' | 'no_context'; chatId: string }
  | {
      recorded: true
      contactId: string
      chatId: string
      /** The upstream's user id, where the contact has no phone number. */
      userId: string | null
      contextUpstreamId: string | null
    }

interface RecordRow {
  contact_id: string
  chat_id: string
  phone_number: string | null
  blocked: boolean
  context_upstream_id: string | null
  recorded: boolean
  user_address: string | null
}

// One statement finds the contact, checks what it must, numbers the message under the contact's row lock, and records it. A
// person without a number is reached by the user id that became known last.
const record = statement<RecordRow>(
  'outgoing.record',
  `WITH known AS (
     SELECT c.id, c.chat_id, c.phone_number, c.blocked, c.bot_status, c.has_unread_messages
     FROM contact_addresses a
     JOIN contacts c ON c.organization_id = a.organization_id AND c.id = a.contact_id
     WHERE a.organization_id = $1 AND a.address = ANY (${opaqueArray('$2', 'text')})
     ORDER BY array_position($2, a.address)
     LIMIT 1
   ), context AS (
     SELECT m.upstream_id
     FROM messages m, known
     WHERE m.organization_id = $1 AND m.contact_id = known.id AND m.seq IS NOT NULL AND m.upstream_id IS NOT NULL
       AND (m.upstream_id = $8 OR m.id = $9)
     LIMIT 1
   ), numbered AS (
     UPDATE contacts c
     SET last_seq = c.last_seq + 1,
       has_unread_messages = c.has_unread_messages AND $4 <> 'human-chat',
       bot_status = CASE WHEN $4 = 'human-chat' AND c.bot_status = 'active' THEN 'paused' ELSE c.bot_status END,
       updated_at = CASE WHEN $4 = 'human-chat' THEN now() ELSE c.updated_at END
     FROM known
     WHERE c.organization_id = $1 AND c.id = known.id AND NOT c.blocked
       AND ($8::text IS NULL OR EXISTS (SELECT FROM context))
     RETURNING c.*
   ), changed AS (
     INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT $1, $11, 'contact.updated', numbered.id, jsonb_build_object('contact', to_jsonb(numbered))
     FROM numbered, known
     WHERE (numbered.bot_status, numbered.has_unread_messages) IS DISTINCT FROM (known.bot_status, known.has_unread_messages)
   ), recorded AS (
     INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, outcome,
       context_upstream_id, assignee_id, created_at, recorded_at)
     SELECT $1, $3, numbered.id, numbered.last_seq, $4, $5, $6, 'sent', 'pending',
       (SELECT upstream_id FROM context), $10, $7, $7
     FROM numbered
     RETURNING id
   )
   SELECT known.id AS contact_id, known.chat_id, known.phone_number, known.blocked,
     (SELECT upstream_id FROM context) AS context_upstream_id,
     EXISTS (SELECT FROM recorded) AS recorded,
     CASE WHEN known.phone_number IS NULL THEN (
       SELECT a.address FROM contact_addresses a
       WHERE a.organization_id = $1 AND a.contact_id = known.id AND a.address LIKE 'user:%'
       ORDER BY a.added_at DESC
       LIMIT 1
     ) END AS user_address
   FROM known`,
)

/** The upstream said yes; a status callback may have said so before, then nothing changes and nothing is raised. */
const accept = statement<Message>(
  'outgoing.accept',
  `WITH accepted AS (
     UPDATE messages m
     SET upstream_id = coalesce(m.upstream_id, $3), status = 'sent', outcome = NULL, error = NULL, failed_at = NULL, accepted_at = $4
     WHERE m.organization_id = $1 AND m.id = $2 AND m.accepted_at IS NULL
     RETURNING *
   ), alias AS (
     INSERT INTO contact_addresses (organization_id, address, contact_id)
     SELECT $1, $5, contact_id FROM accepted WHERE $5::text IS NOT NULL
     ON CONFLICT DO NOTHING
   ), event AS (
     INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT $1, $6, 'message.sent', m.contact_id,
       jsonb_build_object('message', ${MESSAGE_SNAPSHOT}, 'contact', to_jsonb(c))
     FROM accepted m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
   )
   SELECT ${MESSAGE_COLUMNS} FROM accepted m`,
)

const refuse = statement<Message>(
  'outgoing.refuse',
  `WITH refused AS (
     UPDATE messages m
     SET status = 'failed', outcome = NULL, error = $3, failed_at = $4
     WHERE m.organization_id = $1 AND m.id = $2 AND m.outcome IS NOT NULL
     RETURNING *
   ), event AS (
     INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT $1, $5, 'message.failed', m.contact_id,
       jsonb_build_object('message', ${MESSAGE_SNAPSHOT}, 'contact', to_jsonb(c), 'previous_status', 'sent')
     FROM refused m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
   )
   SELECT ${MESSAGE_COLUMNS} FROM refused m`,
)

const markUnknown = statement<never>(
  'outgoing.markUnknown',
  `UPDATE messages SET outcome = 'unknown' WHERE organization_id = $1 AND id = $2 AND outcome = 'pending'`,
)

const markAbandoned = statement<never>(
  'outgoing.markAbandoned',
  `UPDATE messages m SET outcome = 'unknown'
   FROM organizations o
   WHERE m.organization_id = o.id AND m.outcome = 'pending' AND m.recorded_at < $1`,
)

const listOverdue = statement<{ organization_id: string; id: string }>(
  'outgoing.listOverdue',
  `SELECT m.organization_id, m.id
   FROM organizations o JOIN messages m ON m.organization_id = o.id
   WHERE m.outcome IS NOT NULL AND m.recorded_at < $1
   ORDER BY m.recorded_at
   LIMIT $2`,
)

/**
 * Records a message with outcome `pending`, found by the forms of its recipient's address; says why not, where not. What a
 * human's send does to the contact raises contact.updated. A unique violation when the message's id is taken.
 */
export async function recordOutgoingMessage(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
  message: OutgoingMessage,
): Promise<Recorded> {
  const contextId = message.contextMessageId
  const [row] = await db.run(record, [
    organizationId,
    addresses,
    message.id,
    message.sender_type,
    message.message_type,
    message.text,
    message.created_at,
    contextId,
    contextId !== null && isUuid(contextId) ? contextId : null,
    message.assignee_id,
    message.contactEventId,
  ])
  if (!row) return { recorded: false, reason: 'no_contact' }
  if (!row.recorded) {
    if (row.blocked) return { recorded: false, reason: 'blocked', chatId: row.chat_id }
    if (contextId !== null && row.context_upstream_id === null) {
      return { recorded: false, reason: 'no_context', chatId: row.chat_id }
    }
    // The contact was there when the statement began, and then it was erased, merged or blocked: look again.
    return recordOutgoingMessage(db, organizationId, addresses, message)
  }
  return {
    recorded: true,
    contactId: row.contact_id,
    chatId: row.chat_id,
    userId: row.user_address?.slice('user:'.length) ?? null,
    contextUpstreamId: row.context_upstream_id,
  }
}

/** Marks a message accepted by the upstream and raises message.sent; `alias` is a further form of the recipient's number. */
export async function acceptMessage(
  db: Queryable,
  organizationId: string,
  id: string,
  accepted: { upstreamId: string | null; at: Date; alias: string | null; eventId: string },
): Promise<void> {
  await db.run(accept, [organizationId, id, accepted.upstreamId, accepted.at, accepted.alias, accepted.eventId])
}

/** Marks a message failed for good and raises message.failed; one that is settled already stays as it is. */
export async function refuseMessage(
  db: Queryable,
  organizationId: string,
  id: string,
  error: MessageError,
  at: Date,
  eventId: string,
): Promise<void> {
  await db.run(refuse, [organizationId, id, JSON.stringify(error), at, eventId])
}

/** The request left and no answer came: the outcome stays unknown until a callback settles it. */
export async function markMessageUnknown(db: Queryable, organizationId: string, id: string): Promise<void> {
  await db.run(markUnknown, [organizationId, id])
}

/** Messages recorded before `before` whose send never ended (their process died): their outcome is unknown. Of all tenants. */
export async function markAbandonedMessages(db: Queryable, before: Date): Promise<void> {
  await db.run(markAbandoned, [before])
}

/** Messages recorded before `before` whose outcome is still outstanding, oldest first. Of all tenants. */
export function listOverdueMessages(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<{ organization_id: string; id: string }[]> {
  return db.run(listOverdue, [before, limit])
}
