import type { Queryable } from '../../database/pool.js'
import { opaqueArray, statement } from '../../database/statement.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { Message } from '../../model/messages/message.js'
import { MESSAGE_COLUMNS } from '../messages/messages.js'

/** The newest message of a contact on a channel, and the other fields of a chat. */
export interface ChatRow
  extends Message,
    Pick<Contact, 'chat_id' | 'phone_number' | 'network_id' | 'full_name' | 'archived'> {
  last_inbound_at: Date | null
  /**
   * The number of unread messages among the contact's newest on the channel, at most 100; 1 if the chat is only marked
   * as unread.
   */
  unread: number
}

/** A range of the newest message's time, both ends included; null: open. */
export interface ChatRange {
  from: Date | null
  to: Date | null
}

interface ScanRow {
  scanned: number
  message_ids: string[]
}

/** Messages read per requested chat at first; each further pass reads a multiple. */
const MESSAGES_A_CHAT = 4
const FIRST_SCAN = 1_000
const SCAN_GROWTH = 5
const UNREAD_LOOKED_AT = 100

const LINES = {
  instance: 'instance_id = $2::uuid',
  organization: 'instance_id IS NULL AND $2::uuid IS NULL',
} as const

// Reads the channel's newest messages, so the cost does not depend on other channels. The channel leads the ORDER BY
// although it is constant, because the planner does not see that with IS NULL and would sort. A chat whose newest
// message is not too old has it among those that are not.
const scanOn = (line: keyof typeof LINES) =>
  statement<ScanRow>(
    `instanceChats.scan.${line}`,
    `WITH newest AS MATERIALIZED (
       SELECT id, contact_id, created_at FROM messages
       WHERE organization_id = $1 AND ${LINES[line]} AND seq IS NOT NULL AND created_at >= $6
       ORDER BY instance_id DESC, created_at DESC, id DESC
       LIMIT $3
     ), chats AS (
       SELECT DISTINCT ON (contact_id) id, created_at FROM newest ORDER BY contact_id, created_at DESC, id DESC
     )
     SELECT (SELECT count(*) FROM newest)::float8 AS scanned, ARRAY (
       SELECT id FROM chats WHERE created_at <= $7 ORDER BY created_at DESC, id DESC OFFSET $4 LIMIT $5
     ) AS message_ids`,
  )

const SCANS = { instance: scanOn('instance'), organization: scanOn('organization') }

// A mark on a contact without unread messages on any channel was set by hand.
const read = statement<ChatRow>(
  'instanceChats.read',
  `SELECT ${MESSAGE_COLUMNS}, c.chat_id, c.phone_number, c.full_name, c.network_id, c.archived, c.last_inbound_at,
     CASE WHEN c.has_unread_messages THEN (
       SELECT greatest(count(*) FILTER (WHERE u.instance_id IS NOT DISTINCT FROM m.instance_id), (count(*) = 0)::int)
       FROM messages u
       WHERE u.organization_id = $1 AND u.contact_id = c.id AND u.seq > c.last_seq - ${UNREAD_LOOKED_AT}
         AND u.sender_type = 'user-chat' AND u.status = 'delivered'
     ) ELSE 0 END::float8 AS unread
   FROM unnest(${opaqueArray('$2', 'uuid')}) WITH ORDINALITY AS wanted (id, rank)
   JOIN messages m ON m.organization_id = $1 AND m.id = wanted.id
   JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id
   ORDER BY wanted.rank`,
)

/** A page of the contacts with messages on a channel, newest message first. */
export async function listChats(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  { from, to }: ChatRange,
  { skip, limit }: { skip: number; limit: number },
): Promise<ChatRow[]> {
  const scan = SCANS[channelId === null ? 'organization' : 'instance']
  const range = [from ?? '-infinity', to ?? 'infinity']
  let depth = Math.max(FIRST_SCAN, (skip + limit) * MESSAGES_A_CHAT)
  for (;;) {
    const [row] = await db.run(scan, [organizationId, channelId, depth, skip, limit, ...range])
    const { scanned, message_ids: ids } = row as ScanRow
    if (ids.length === limit || scanned < depth) return readChats(db, organizationId, ids)
    depth *= SCAN_GROWTH
  }
}

/** The chats with these newest messages, in the given order. */
export async function readChats(
  db: Queryable,
  organizationId: string,
  messageIds: readonly string[],
): Promise<ChatRow[]> {
  return messageIds.length === 0 ? [] : db.run(read, [organizationId, messageIds])
}
