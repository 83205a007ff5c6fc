import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { likeContaining } from '../../lib/text/like.js'

const HAS_MESSAGE = (contactId: string) => `EXISTS (
  SELECT FROM messages
  WHERE organization_id = $1 AND contact_id = ${contactId} AND instance_id IS NOT DISTINCT FROM $2::uuid AND seq IS NOT NULL
)`

const isOnLine = statement<{ found: boolean }>('instanceContacts.isOn', `SELECT ${HAS_MESSAGE('$3')} AS found`)

const findNamed = statement<{ id: string }>(
  'instanceContacts.findNamed',
  `SELECT a.contact_id AS id
   FROM contacts c JOIN contact_activity a ON a.organization_id = $1 AND a.contact_id = c.id
   WHERE c.organization_id = $1 AND c.folded_name LIKE $3 AND ${HAS_MESSAGE('c.id')}
   ORDER BY a.active_at DESC, a.contact_id DESC
   OFFSET $4 LIMIT $5`,
)

/** True if a contact has a message on a channel (`channelIdOf` in model/instances/instance). */
export async function hasMessageOnChannel(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  contactId: string,
): Promise<boolean> {
  const rows = await db.run(isOnLine, [organizationId, channelId, contactId])
  return rows[0]?.found === true
}

/**
 * The ids of a page of the contacts with messages on a channel, most recently active first. `name`: a part of the
 * normalized name.
 */
export async function listNamedOnChannel(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  { name, skip, limit }: { name: string; skip: number; limit: number },
): Promise<string[]> {
  const rows = await db.run(findNamed, [organizationId, channelId, likeContaining(name), skip, limit])
  return rows.map(({ id }) => id)
}
