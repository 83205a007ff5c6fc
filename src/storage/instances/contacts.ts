import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { likeContaining } from '../../lib/text/like.js'
import type { Contact } from '../../model/contacts/contact.js'
import { readContacts } from '../contacts/lists.js'
import { listChats } from './chats.js'

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

/** A page of the contacts with messages on a channel. `name`: a part of the normalized name; null: all. */
export async function listContactsOnChannel(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
  name: string | null,
  { skip, limit }: { skip: number; limit: number },
): Promise<Contact[]> {
  if (name === null) {
    const chats = await listChats(db, organizationId, channelId, { from: null, to: null }, { skip, limit })
    return readContacts(
      db,
      organizationId,
      chats.map(({ contact_id }) => contact_id),
    )
  }
  const rows = await db.run(findNamed, [organizationId, channelId, likeContaining(name), skip, limit])
  return readContacts(
    db,
    organizationId,
    rows.map(({ id }) => id),
  )
}
