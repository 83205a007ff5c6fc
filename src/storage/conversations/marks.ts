import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { isUuid, newId } from '../../lib/bytes/id.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { Message } from '../../model/messages/message.js'
import { contactEvents, raiseEvents } from '../events/raise.js'

/** How many earlier messages are marked as read with a message. Messages before them are old or already read. */
const MARKED_WITH_IT = 1_000

const lock = statement<never>(
  'conversationMarks.lock',
  'SELECT FROM contacts WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE',
)

// The contact has one unread mark for all its channels. It is cleared when a human answers, even if the messages are
// not marked as read on the network.
const markRead = statement<never>(
  'conversationMarks.read',
  `WITH marked AS (
     UPDATE messages
     SET status = 'read', read_at = $4
     WHERE organization_id = $1 AND contact_id = $2 AND seq BETWEEN $3::bigint - ${MARKED_WITH_IT} AND $3
       AND instance_id IS NOT DISTINCT FROM $6::uuid AND sender_type = 'user-chat' AND status = 'delivered'
   ), answered AS (
     -- Numbers of a phone's history may be below 1.
     SELECT coalesce(max(seq), '-9223372036854775808'::bigint) AS seq FROM messages
     WHERE organization_id = $1 AND contact_id = $2 AND seq >= $3::bigint - ${MARKED_WITH_IT} AND sender_type = 'human-chat'
   ), cleared AS (
     UPDATE contacts c
     SET has_unread_messages = false, updated_at = now()
     WHERE c.organization_id = $1 AND c.id = $2 AND c.has_unread_messages AND NOT EXISTS (
       SELECT FROM messages l
       WHERE l.organization_id = $1 AND l.contact_id = $2 AND l.seq >= $3::bigint - ${MARKED_WITH_IT} AND l.seq > (SELECT seq FROM answered)
         AND (l.seq > $3 OR l.instance_id IS DISTINCT FROM $6::uuid) AND l.sender_type = 'user-chat' AND l.status = 'delivered'
     )
     RETURNING c.*
   )
   ${raiseEvents(contactEvents('contact.updated', '$5', 'cleared'))}`,
  { raises: 'events' },
)

/** A message that was marked as read, with what commands to its network need. */
export type ReadMessage = Pick<Message, 'id' | 'upstream_id' | 'sender_type' | 'instance_id' | 'network'> &
  Pick<Contact, 'chat_id' | 'phone_number' | 'network_id'> & { seq: number }

const markThreadRead = statement<ReadMessage>(
  'conversationMarks.readThread',
  `WITH marked AS (
     UPDATE messages
     SET status = 'read', read_at = $4
     WHERE organization_id = $1 AND contact_id = $2 AND seq BETWEEN $3::bigint - ${MARKED_WITH_IT} AND $3
       AND sender_type = 'user-chat' AND status = 'delivered'
     RETURNING id, seq, upstream_id, sender_type, instance_id, network
   ), cleared AS (
     UPDATE contacts c
     SET has_unread_messages = false, updated_at = now()
     WHERE c.organization_id = $1 AND c.id = $2 AND c.has_unread_messages AND NOT EXISTS (
       SELECT FROM messages l
       WHERE l.organization_id = $1 AND l.contact_id = $2 AND l.seq > $3 AND l.sender_type = 'user-chat' AND l.status = 'delivered'
         AND NOT EXISTS (
           SELECT FROM messages a
           WHERE a.organization_id = $1 AND a.contact_id = $2 AND a.seq > l.seq AND a.sender_type = 'human-chat'
         )
     )
     RETURNING c.*
   ), event AS (
     ${raiseEvents(contactEvents('contact.updated', '$5', 'cleared'))}
   )
   SELECT m.*, c.chat_id, c.phone_number, c.network_id
   FROM marked m JOIN contacts c ON c.organization_id = $1 AND c.id = $2
   ORDER BY m.seq`,
  { raises: 'events' },
)

const newestRead = statement<ReadMessage>(
  'conversationMarks.newestRead',
  `SELECT DISTINCT ON (m.instance_id)
     m.id, m.seq, m.upstream_id, m.sender_type, m.instance_id, m.network, c.chat_id, c.phone_number, c.network_id
   FROM messages m JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
   WHERE m.organization_id = $1 AND m.contact_id = $2 AND m.seq BETWEEN $3::bigint - ${MARKED_WITH_IT} AND $3
     AND m.sender_type = 'user-chat' AND m.status = 'read'
   ORDER BY m.instance_id, m.seq DESC`,
)

const findSeq = statement<{ seq: number }>(
  'conversationMarks.findSeq',
  `SELECT m.seq
   FROM (
     SELECT id FROM messages WHERE organization_id = $1 AND upstream_id = $3
     UNION
     SELECT $4::uuid
   ) wanted
   CROSS JOIN LATERAL (
     SELECT seq, contact_id FROM messages WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = wanted.id OFFSET 0
   ) m
   WHERE m.contact_id = $2 AND m.seq IS NOT NULL
   ORDER BY m.seq DESC LIMIT 1`,
)

const markUnread = statement<never>(
  'conversationMarks.unread',
  `WITH marked AS (
     UPDATE contacts SET has_unread_messages = true, updated_at = now()
     WHERE organization_id = $1 AND id = $2 AND NOT has_unread_messages
     RETURNING *
   )
   ${raiseEvents(contactEvents('contact.updated', '$3', 'marked'))}`,
  { raises: 'events' },
)

/** The number of a message in its conversation, by one of its two ids; null if the contact has no such message. */
export async function findSeqInConversation(
  db: Queryable,
  organizationId: string,
  contactId: string,
  messageId: string,
): Promise<number | null> {
  const [row] = await db.run(findSeq, [organizationId, contactId, messageId, isUuid(messageId) ? messageId : null])
  return row?.seq ?? null
}

/** A message of a conversation, and its channel; null: the organization's own number. */
export interface ConversationPlace {
  contactId: string
  channelId: string | null
  seq: number
}

/**
 * Marks the contact's messages on this channel as read, up to this message. If none is unread on any channel, the
 * contact's mark is cleared, and contact.updated is raised. Needs a transaction: while the contact is locked, no
 * message can come in between.
 */
export async function markConversationRead(
  transaction: Queryable,
  organizationId: string,
  { contactId, channelId, seq }: ConversationPlace,
  at: Date,
): Promise<void> {
  await transaction.run(lock, [organizationId, contactId])
  await transaction.raise(markRead, [organizationId, contactId, seq, at, newId(), channelId], [organizationId])
}

/**
 * Marks the contact's messages on all channels as read, up to this number. If none is unread, the contact's mark is
 * cleared, and contact.updated is raised. Resolves to the messages that were unread. Needs a transaction, as above.
 */
export async function markThreadReadUpTo(
  transaction: Queryable,
  organizationId: string,
  { contactId, seq }: Pick<ConversationPlace, 'contactId' | 'seq'>,
  at: Date,
): Promise<ReadMessage[]> {
  await transaction.run(lock, [organizationId, contactId])
  return transaction.raise(markThreadRead, [organizationId, contactId, seq, at, newId()], [organizationId])
}

/** The newest of the contact's messages up to this number that are read, of each channel. */
export function findNewestRead(
  db: Queryable,
  organizationId: string,
  { contactId, seq }: Pick<ConversationPlace, 'contactId' | 'seq'>,
): Promise<ReadMessage[]> {
  return db.run(newestRead, [organizationId, contactId, seq])
}

/** Sets the contact's unread mark; raises contact.updated if it was not set. */
export async function markConversationUnread(db: Queryable, organizationId: string, contactId: string): Promise<void> {
  await db.raise(markUnread, [organizationId, contactId, newId()], [organizationId])
}
