import type { TSchema } from 'typebox'
import type { OperatorContext } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { ImportContact } from '../../model/contacts/contact-input.js'
import { isUserIdChatId } from '../../model/contacts/phone-number.js'
import { compileSchema, findInputProblem } from '../../model/input.js'
import type { Organization } from '../../model/organizations/organization.js'
import type { ImportedContact } from '../../storage/contacts/imports.js'
import { type ContactInput, readAddresses, readInputNumber, readSource } from './contacts.js'
import type { ContactField } from './headings.js'
import { type Import, type ImportResult, importFile } from './import-file.js'

/** Whether existing contacts get the cells that are not empty, or stay as they are. */
export interface ImportOptions {
  existing: 'update' | 'skip'
}

const SCHEMA: TSchema = ImportContact
const validate = compileSchema(SCHEMA)

/** Imports a CSV file of contacts, as `importFile` does. */
export function importContacts(
  ctx: OperatorContext,
  organization: Organization,
  path: string,
  { existing }: ImportOptions,
  report: (results: ImportResult[]) => Promise<void>,
): Promise<Import> {
  const fields = Object.keys(ImportContact.properties) as ContactField[]
  return importFile(ctx, organization, path, { fields, readContact, leaveExisting: existing === 'skip' }, report)
}

/** The contact of a row; throws the problem that POST /contact would answer. */
export function readContact(organization: Organization, fields: Record<string, unknown>, now: Date): ImportedContact {
  const problem = findInputProblem(validate, SCHEMA, fields, 'The row')
  if (problem) throw problem
  const input = fields as ContactInput & Partial<ImportedContact>
  const { phone_number, chat_id } = input
  const isPerson = !phone_number && typeof chat_id === 'string' && isUserIdChatId(chat_id)
  const number = isPerson
    ? readAddresses(organization, 'chat_id', chat_id, 'body')
    : readInputNumber(organization, { phone_number, chat_id })
  return {
    id: newId(),
    eventId: newId(),
    optOutEventId: newId(),
    chat_id: number.digits,
    addresses: number.forms,
    creatable: !isPerson,
    full_name: input.full_name ?? null,
    email: input.email ?? null,
    tags: input.tags ? [...new Set(input.tags)] : null,
    allow_broadcast: input.allow_broadcast ?? null,
    archived: input.archived ?? null,
    blocked: input.blocked ?? null,
    bot_status: input.bot_status ?? null,
    contact_summary: input.contact_summary ?? null,
    opted_out_at: null,
    source: readSource(input.source) ?? { type: 'import', created_at: now.toISOString() },
  }
}
