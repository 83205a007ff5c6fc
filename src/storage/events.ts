import type { Queryable } from '../database/pool.js'
import { statement } from '../database/statement.js'

// Events are written by the statements that make them happen (contacts, outgoing-messages, incoming-messages, message-statuses).

const prune = statement<never>(
  'events.prune',
  'DELETE FROM events e USING organizations o WHERE e.organization_id = o.id AND e.created_at < $1',
)

/** Deletes events that happened before `before`. Of all tenants. */
export async function pruneEvents(db: Queryable, before: Date): Promise<void> {
  await db.run(prune, [before])
}
