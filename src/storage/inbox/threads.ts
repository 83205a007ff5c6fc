import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import type { LiveSurroundings, ThreadRow } from '../../model/conversations/inbox.js'
import { isSameAuthor } from '../messages/incoming.js'
import { SHOWN_MESSAGE_COLUMNS } from '../messages/messages.js'

/** How many characters of a quoted message are shown. */
const QUOTED_LENGTH = 200

// A message may have come through two devices; the record of the same channel is quoted. An edit or revocation counts
// if it changed the text (see incoming). OFFSET 0: each message is looked up by its index, not among all messages of
// the conversation.
const range = statement<ThreadRow>(
  'threads.range',
  `SELECT ${SHOWN_MESSAGE_COLUMNS}, i.name AS instance_name, quoted.message AS quoted, change.kind AS changed
   FROM messages m
   LEFT JOIN instances i ON i.organization_id = m.organization_id AND i.id = m.instance_id
   LEFT JOIN LATERAL (
     SELECT json_build_object('id', q.id, 'seq', q.seq, 'text', left(q.text, ${QUOTED_LENGTH}), 'sender_type', q.sender_type,
       'message_type', q.message_type, 'media_type', q.media_type) AS message
     FROM (
       SELECT * FROM messages
       WHERE ${ofOrganization('organization_id', 'm.organization_id')} AND upstream_id = m.context_upstream_id
       OFFSET 0
     ) q
     WHERE q.contact_id = m.contact_id AND q.seq IS NOT NULL
     ORDER BY q.instance_id IS NOT DISTINCT FROM m.instance_id DESC
     LIMIT 1
   ) quoted ON true
   LEFT JOIN LATERAL (
     SELECT CASE e.message_type WHEN 'edit' THEN 'edited' ELSE 'revoked' END AS kind
     FROM (
       SELECT * FROM messages
       WHERE ${ofOrganization('organization_id', 'm.organization_id')} AND context_upstream_id = m.upstream_id AND seq IS NULL
       OFFSET 0
     ) e
     WHERE e.contact_id = m.contact_id AND e.message_type IN ('edit', 'revoke')
       AND ${isSameAuthor('e', "m.sender_type = 'user-chat'", 'm.instance_id', "m.network ->> 'participant'")}
     ORDER BY e.created_at DESC, e.id DESC
     LIMIT 1
   ) change ON true
   WHERE m.organization_id = $1 AND m.contact_id = $2 AND m.seq BETWEEN $3 AND $4
   ORDER BY m.seq`,
)

const activities = statement<{ contact_id: string; active_at: Date }>(
  'threads.activities',
  `SELECT contact_id, active_at FROM contact_activity
   WHERE organization_id = $1 AND contact_id = ANY ($2::uuid[])`,
)

const instanceNames = statement<{ id: string; name: string }>(
  'threads.instanceNames',
  `SELECT id, name FROM instances WHERE organization_id = $1 AND id = ANY ($2::uuid[])`,
)

/** The messages of a contact whose numbers are in the range (both ends included), in ascending order. */
export function listThreadMessages(
  db: Queryable,
  organizationId: string,
  contactId: string,
  { from, to }: { from: number; to: number },
): Promise<ThreadRow[]> {
  return db.run(range, [organizationId, contactId, from, to])
}

/** Data for live events of these contacts and instances, besides the rows of the events. */
export async function readSurroundings(
  db: Queryable,
  organizationId: string,
  contactIds: readonly string[],
  instanceIds: readonly string[],
): Promise<(contactId: string | null, instanceId: string | null) => LiveSurroundings> {
  const [active, named] = await Promise.all([
    contactIds.length === 0 ? [] : db.run(activities, [organizationId, contactIds]),
    instanceIds.length === 0 ? [] : db.run(instanceNames, [organizationId, instanceIds]),
  ])
  const activeAt = new Map(active.map((row) => [row.contact_id, row.active_at]))
  const names = new Map(named.map((row) => [row.id, row.name]))
  return (contactId, instanceId) => ({
    activeAt: (contactId !== null && activeAt.get(contactId)) || null,
    instanceName: (instanceId !== null && names.get(instanceId)) || null,
  })
}
