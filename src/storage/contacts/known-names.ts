import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { normalizeName } from './contacts.js'

const name = statement<never>(
  'knownNames.name',
  `WITH named AS (
     UPDATE contacts c SET full_name = $3, folded_name = $4, updated_at = now()
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = $2 AND c.full_name IS NULL
     RETURNING c.*
   )
   ${raiseEvents(contactEvents('contact.updated', '$5', 'named'))}`,
  { raises: 'events' },
)

/** Names a contact that has no name, and raises contact.updated. */
export async function nameContact(
  db: Queryable,
  organizationId: string,
  contactId: string,
  given: string,
): Promise<void> {
  await db.raise(name, [organizationId, contactId, given, normalizeName(given), newId()], [organizationId])
}
