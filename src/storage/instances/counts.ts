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

// Chosen first and filtered then: where few of an organization's messages are of its number, they are not searched for.
const countShared = statement<CountRow>(
  'instanceCounts.countShared',
  `SELECT count(DISTINCT contact_id)::int AS contacts
   FROM (
     SELECT contact_id, instance_id FROM messages WHERE organization_id = $1 ORDER BY id DESC LIMIT $2
   ) latest
   WHERE instance_id IS NULL`,
)

/**
 * Counts, by connection, the people that its newest messages were with, looking at `limit` of each at most; null: the organization's
 * own number, of which it looks at those among the organization's newest.
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
