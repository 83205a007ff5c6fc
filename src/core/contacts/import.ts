import type { TSchema } from 'typebox'
import type { OperatorContext } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { ImportContact } from '../../model/contacts/contact-input.js'
import { isParentUserId, isUserId } from '../../model/contacts/user-id.js'
import { compileSchema, findInputProblem } from '../../model/input.js'
import type { Organization } from '../../model/organizations/organization.js'
import { type ContactInput, readInputNumber, readSource } from './contacts.js'
import type { ContactField } from './headings.js'
import { type Import, type ImportResult, importFile, type RowContent } from './import-file.js'

/** Whether existing contacts get the cells that are not empty, or stay as they are. */
export interface ImportOptions {
  existing: 'update' | 'skip'
}

const SCHEMA: TSchema = ImportContact
const check = compileSchema(SCHEMA)

/** Imports a CSV file of contacts, as `importFile` does. */
export function importContacts(
  ctx: OperatorContext,
  organization: Organization,
  path: string,
  { existing, report }: ImportOptions & { report: (results: ImportResult[]) => Promise<void> },
): Promise<Import> {
  const fields = Object.keys(ImportContact.properties) as ContactField[]
  const kind = { fields, readContact, leaveExisting: existing === 'skip' }
  return importFile(ctx, organization, path, { kind, report })
}

/** The content of a row; throws the problem that POST /contact would answer. */
export function readContact(organization: Organization, fields: Record<string, unknown>, now: Date): RowContent {
  const problem = findInputProblem(check, SCHEMA, fields, 'The row')
  if (problem) throw problem
  const input = fields as ContactInput & Partial<RowContent['contact']>
  const contact = {
    id: newId(),
    eventId: newId(),
    optOutEventId: newId(),
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
  const number = readInputNumber(organization, input, 'table')
  const isBesideNumber = number.given.name !== 'user_id'
  return { ...number, contact: { ...contact, user_id: isBesideNumber ? readPersonId(input.user_id) : null } }
}

/** A user id beside a number; null for other texts, because a table may have a column of this name for something else. */
function readPersonId(given: string | null | undefined): string | null {
  const id = given?.trim() ?? ''
  return isUserId(id) && !isParentUserId(id) ? id : null
}
