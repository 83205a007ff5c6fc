import type { World } from './world.js'

/** The types and data of a contact's events, oldest first. */
export async function eventsOf(world: World, contactId: string) {
  const { rows } = await world.database.pool.query<{ type: string; data: Record<string, unknown> }>(
    'SELECT type, data FROM events WHERE contact_id = $1 ORDER BY seq',
    [contactId],
  )
  return rows
}

/** Every field of a contact, in the order of the answer. */
export const CONTACT_FIELDS = [
  'id',
  'full_name',
  'chat_id',
  'phone_number',
  'email',
  'tags',
  'organization_id',
  'bot_status',
  'allow_broadcast',
  'archived',
  'blocked',
  'active_status',
  'has_unread_messages',
  'source',
  'contact_summary',
  'contact_summary_updated_at',
  'created_at',
  'updated_at',
]
