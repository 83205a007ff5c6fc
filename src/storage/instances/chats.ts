import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
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
  ids: string[]
}

/** Messages read per requested chat at first; each further pass reads a multiple. */
const MESSAGES_A_CHAT = 2
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
    `WITH chats AS (
       SELECT contact_id, max(created_at) AS at, count(*) AS messages
       FROM (
         SELECT contact_id, created_at FROM messages
         WHERE organization_id = $1 AND ${LINES[line]} AND seq IS NOT NULL AND created_at >= $6
         ORDER BY instance_id DESC, created_at DESC, id DESC
         LIMIT $3
       ) newest
       GROUP BY contact_id
     )
     SELECT (SELECT coalesce(sum(messages), 0) FROM chats)::float8 AS scanned, ARRAY (
       SELECT contact_id FROM chats WHERE at <= $7 ORDER BY at DESC, contact_id DESC OFFSET $4 LIMIT $5
     ) AS ids`,
    { isHeavy: true },
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
   FROM unnest($3::uuid[]) WITH ORDINALITY AS wanted (id, rank)
   CROSS JOIN LATERAL (
     SELECT seq FROM messages
     WHERE organization_id = $1 AND contact_id = wanted.id AND seq IS NOT NULL
       AND instance_id IS NOT DISTINCT FROM $2::uuid
     ORDER BY seq DESC
     LIMIT 1
   ) newest CROSS JOIN LATERAL (
     SELECT * FROM messages
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND contact_id = wanted.id AND seq = newest.seq
     OFFSET 0
   ) m
   JOIN contacts c ON c.organization_id = $1 AND c.id = wanted.id
   ORDER BY wanted.rank`,
)

/**
 * A page of the contacts with messages on a channel, newest message first, of those whose newest message is in the
 * range. Costs the reading of all messages from the newest to those of the page.
 */
export async function orderChats(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  { from, to, skip, limit }: ChatRange & { skip: number; limit: number },
): Promise<string[]> {
  const scan = SCANS[channelId === null ? 'organization' : 'instance']
  const range = [from ?? '-infinity', to ?? 'infinity']
  let depth = Math.max(FIRST_SCAN, (skip + limit) * MESSAGES_A_CHAT)
  for (;;) {
    const [row] = await db.run(scan, [organizationId, channelId, depth, skip, limit, ...range])
    const { scanned, ids } = row as ScanRow
    if (ids.length >= limit || scanned < depth) return ids
    depth *= SCAN_GROWTH
  }
}

/** The chats of these contacts on a channel, in the given order; contacts without a message there are left out. */
export async function readChats(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  contactIds: readonly string[],
): Promise<ChatRow[]> {
  return contactIds.length === 0 ? [] : db.run(read, [organizationId, channelId, contactIds])
}
