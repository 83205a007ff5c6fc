import type { Queryable } from '../database/pool.js'
import { statement } from '../database/statement.js'

/** What went through a connection of late: messages, and people they were with. */
export interface LineCounts {
  messages: number
  contacts: number
}

const countOwn = statement<LineCounts & { line: string }>(
  'instanceCounts.countOwn',
  `SELECT line, counted.messages, counted.contacts
   FROM unnest($2::uuid[]) AS line, LATERAL (
     SELECT count(*)::int AS messages, count(DISTINCT contact_id)::int AS contacts
     FROM (
       SELECT contact_id FROM messages
       WHERE organization_id = $1 AND instance_id = line AND seq IS NOT NULL
       ORDER BY created_at DESC, id DESC LIMIT $3
     ) latest
   ) counted`,
)

// Chosen first and filtered then: where few of an organization's messages are of its number, they are not searched for.
const countShared = statement<LineCounts>(
  'instanceCounts.countShared',
  `SELECT count(*)::int AS messages, count(DISTINCT contact_id)::int AS contacts
   FROM (
     SELECT contact_id, instance_id FROM messages WHERE organization_id = $1 ORDER BY id DESC LIMIT $2
   ) latest
   WHERE instance_id IS NULL`,
)

/** Counts the newest messages of connections of the organization, at most `limit` of each. */
export async function countLines(
  db: Queryable,
  organizationId: string,
  instanceIds: readonly string[],
  limit: number,
): Promise<Map<string, LineCounts>> {
  const rows = instanceIds.length === 0 ? [] : await db.run(countOwn, [organizationId, instanceIds, limit])
  return new Map(rows.map(({ line, messages, contacts }) => [line, { messages, contacts }]))
}

/** Counts those of the organization's newest `limit` messages that went through its own number. */
export async function countSharedLine(db: Queryable, organizationId: string, limit: number): Promise<LineCounts> {
  const [row] = await db.run(countShared, [organizationId, limit])
  return row as LineCounts
}
