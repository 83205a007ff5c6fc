import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { CALL } from '../../model/messages/call.js'
import { GROUP } from '../../model/messages/group-change.js'
import { HANDOVER } from '../../model/messages/handover.js'
import type { Message, MessageOfContact, ShownMessage } from '../../model/messages/message.js'
import { ASSIGNEE } from '../events/message-rows.js'

/** The columns of a row `m` of messages. */
export const MESSAGE_COLUMNS = `m.organization_id, m.id, m.contact_id, m.seq, m.upstream_id, m.sender_type, m.message_type, m.text,
  m.media_type, m.media_id, m.media_expires_at, m.transcription, m.content, m.extras, m.instance_id, m.network, m.status, m.outcome, m.error, m.context_upstream_id, m.assignee_id, m.created_at, m.accepted_at,
  m.handled_by, m.held_at`

/**
 * The reactions on the message `m`, as JSON: of each side (customer, organization) the last one that did not fail,
 * unless it was removed (an empty text).
 */
export const REACTIONS = `(
  SELECT jsonb_agg(jsonb_build_object('emoji', r.text, 'sender_type', r.sender_type, 'created_at', r.created_at)
    ORDER BY r.created_at, r.id)
  FROM (
    SELECT DISTINCT ON (sender_type = 'user-chat') id, text, sender_type, created_at
    FROM messages
    WHERE organization_id = m.organization_id AND context_upstream_id = m.upstream_id AND contact_id = m.contact_id
      AND seq IS NULL AND message_type = 'reaction' AND status <> 'failed'
    ORDER BY sender_type = 'user-chat', created_at DESC, id DESC
  ) r
  WHERE r.text <> ''
)`

/**
 * SQL: whether the contact of the message `m` is there. The messages of an erased one are deleted in slices, and not
 * shown or changed meanwhile. `organization`: SQL of type uuid.
 */
export const hasContact = (organization: string) => `EXISTS (
    SELECT FROM contacts WHERE ${ofOrganization('organization_id', organization)} AND id = m.contact_id OFFSET 0
  )`

/** The type of the event for the acceptance of the message `m`. */
export const ACCEPTED_EVENT = `CASE WHEN m.message_type = 'reaction' THEN 'message.reaction' ELSE 'message.sent' END`

/** The type of the event for the recorded message `m`; a message that another one sent for the organization is sent already. */
export const RECORDED_EVENT = `CASE
       WHEN m.sender_type IN ('human-chat', 'bot-chat') THEN 'message.sent'
       WHEN m.sender_type = 'system' AND m.message_type = '${HANDOVER}' THEN 'conversation.handed_over'
       WHEN m.sender_type = 'system' AND m.message_type = '${GROUP}' THEN 'group.updated'
       WHEN m.sender_type = 'system' AND m.message_type = '${CALL}' THEN CASE m.content ->> 'outcome' WHEN 'missed' THEN 'call.missed' ELSE 'call.ended' END
       ELSE 'message.received'
     END`

/** The message `m` with all that is shown of it, for a select list. */
export const SHOWN_MESSAGE_COLUMNS = `${MESSAGE_COLUMNS}, ${REACTIONS} AS reactions, ${ASSIGNEE} AS assignee`

const page = statement<ShownMessage>(
  'messages.page',
  `SELECT ${SHOWN_MESSAGE_COLUMNS}
   FROM messages m
   WHERE m.organization_id = $1 AND m.contact_id = $2 AND m.seq BETWEEN $3 AND $4
   ORDER BY m.seq`,
)

// One look-up per number. With = ANY, servers before 17 would read the whole conversation in order and test each message.
const some = statement<ShownMessage>(
  'messages.some',
  `SELECT ${SHOWN_MESSAGE_COLUMNS}
   FROM unnest($3::bigint[]) AS wanted (seq) CROSS JOIN LATERAL (
     SELECT * FROM messages
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = $2 AND seq = wanted.seq
     OFFSET 0
   ) m
   ORDER BY m.seq`,
)

const withContact = sharedStatement<Message & Pick<MessageOfContact, 'contact'> & { n: number }>(
  'messages.withContact',
  `SELECT wanted.n::int, ${MESSAGE_COLUMNS}, json_build_object('chat_id', c.chat_id, 'phone_number', c.phone_number,
     'network_id', c.network_id, 'full_name', c.full_name) AS contact
   FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS wanted (organization, id, n)
   CROSS JOIN LATERAL (
     SELECT * FROM messages WHERE ${ofOrganization('organization_id', 'wanted.organization')} AND id = wanted.id OFFSET 0
   ) m CROSS JOIN LATERAL (
     SELECT * FROM contacts WHERE ${ofOrganization('organization_id', 'wanted.organization')} AND id = m.contact_id OFFSET 0
   ) c`,
)

const find = statement<Message>(
  'messages.find',
  `SELECT ${MESSAGE_COLUMNS} FROM messages m
   WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2 AND ${hasContact('$1::uuid')}`,
)

/** The messages with these ids and their contacts, in the given order; null for unknown ones. */
export async function findMessagesWithContacts(
  db: Queryable,
  lookups: readonly { organizationId: string; id: string }[],
): Promise<(MessageOfContact | null)[]> {
  const rows = await db.run(withContact, [lookups.map((one) => one.organizationId), lookups.map((one) => one.id)])
  const found: (MessageOfContact | null)[] = lookups.map(() => null)
  for (const { n, contact, ...message } of rows) found[n - 1] = { message, contact }
  return found
}

/** The messages of a conversation whose numbers are in the range (both ends included), in ascending order. */
export function findMessagesBySeq(
  db: Queryable,
  organizationId: string,
  contactId: string,
  { from, to }: { from: number; to: number },
): Promise<ShownMessage[]> {
  return db.run(page, [organizationId, contactId, from, to])
}

/** The messages of a conversation with these numbers, in ascending order. */
export async function findMessagesBySeqs(
  db: Queryable,
  organizationId: string,
  contactId: string,
  seqs: readonly number[],
): Promise<ShownMessage[]> {
  return seqs.length === 0 ? [] : db.run(some, [organizationId, contactId, seqs])
}

/** One message by its id, or null. */
export async function findMessage(db: Queryable, organizationId: string, id: string): Promise<Message | null> {
  const rows = await db.run(find, [organizationId, id])
  return rows[0] ?? null
}
