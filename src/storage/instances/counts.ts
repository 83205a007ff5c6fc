import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

interface CountRow {
  contacts: number
}

const countOwn = statement<CountRow & { line: string }>(
  'instanceCounts.countOwn',
  `SELECT line, counted.contacts
   FROM unnest($2::uuid[]) AS line, LATERAL (
     SELECT count(DISTINCT contact_id)::int AS contacts
     FROM (
       SELECT contact_id FROM messages
       WHERE organization_id = $1 AND instance_id = line AND seq IS NOT NULL
       ORDER BY created_at DESC, id DESC LIMIT $3
     ) latest
   ) counted`,
)

// Limits first and filters then, so that rare messages of a number are not searched for.
const countShared = statement<CountRow>(
  'instanceCounts.countShared',
  `SELECT count(DISTINCT contact_id)::int AS contacts
   FROM (
     SELECT contact_id, instance_id FROM messages WHERE organization_id = $1 ORDER BY id DESC LIMIT $2
   ) latest
   WHERE instance_id IS NULL`,
)

/**
 * Counts, by channel, the contacts of its newest messages, reading at most `limit` of each. Null is the organization's
 * own number, for which the organization's newest messages are read.
 */
export async function countChannelContacts(
  db: Queryable,
  organizationId: string,
  channelIds: readonly (string | null)[],
  limit: number,
): Promise<Map<string | null, number>> {
  const ownChannels = channelIds.filter((line) => line !== null)
  const rows = ownChannels.length === 0 ? [] : await db.run(countOwn, [organizationId, ownChannels, limit])
  const counts = new Map<string | null, number>(rows.map(({ line, contacts }) => [line, contacts]))
  if (!channelIds.includes(null)) return counts
  const [shared] = await db.run(countShared, [organizationId, limit])
  return counts.set(null, (shared as CountRow).contacts)
}
