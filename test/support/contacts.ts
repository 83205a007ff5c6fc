import type { Answer, TestOrganization, World } from './world.js'

/** Creates a contact. Throws if it is refused. */
export async function createContact(
  world: World,
  organization: TestOrganization,
  phone_number: string,
  fields: object = {},
): Promise<string> {
  const made = await world.request('POST', '/contact', { key: organization.key, body: { phone_number, ...fields } })
  if (made.status !== 201) throw new Error(`contact: ${JSON.stringify(made.body)}`)
  return made.body.contact.id
}

/** A contact as Interface A returns it. */
export async function contact(world: World, organization: TestOrganization, chatId: string): Promise<Answer> {
  return world.request('GET', `/contact?chat_id=${encodeURIComponent(chatId)}`, { key: organization.key })
}

/** Every field of a contact, in the order of the answer. */
export const CONTACT_FIELDS = [
  'id',
  'full_name',
  'chat_id',
  'phone_number',
  'user_id',
  'parent_user_id',
  'username',
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
  'referral',
  'contact_summary',
  'contact_summary_updated_at',
  'created_at',
  'updated_at',
]
