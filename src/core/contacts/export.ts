import type { Context } from '../../context.js'
import { writeCsv } from '../../lib/text/csv-write.js'
import { writeJsonList } from '../../lib/text/json-write.js'
import { type Contact, presentContact } from '../../model/contacts/contact.js'
import type { Organization } from '../../model/organizations/organization.js'
import { writeTags } from './cells.js'
import { eachContact } from './list.js'

export type ExportFormat = 'csv' | 'json'

type Shown = ReturnType<typeof presentContact>

/** All fields of a contact, in the order of the API. */
const COLUMNS: readonly (keyof Shown)[] = [
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

/** All contacts of an organization as one file. It is read from the database while it is streamed. */
export function exportContacts(
  ctx: Pick<Context, 'database' | 'clock'>,
  organization: Organization,
  format: ExportFormat,
): AsyncGenerator<string> {
  const shown = present(eachContact(ctx, organization), ctx.clock())
  return format === 'json' ? writeJsonList('contacts', shown) : writeCsv(COLUMNS, toRows(shown))
}

async function* present(contacts: AsyncIterable<Contact>, now: Date): AsyncGenerator<Shown> {
  for await (const contact of contacts) yield presentContact(contact, now)
}

async function* toRows(contacts: AsyncIterable<Shown>): AsyncGenerator<string[]> {
  for await (const contact of contacts) yield COLUMNS.map((column) => toCell(contact, column))
}

function toCell(contact: Shown, column: keyof Shown): string {
  if (column === 'tags') return writeTags(contact.tags)
  if (column === 'referral' && contact.referral.last === null) return ''
  const value = contact[column]
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
