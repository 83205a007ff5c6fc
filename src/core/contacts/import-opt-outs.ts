import type { OperatorContext } from '../../context.js'
import { isCalendarDate } from '../../lib/text/calendar.js'
import { excerpt } from '../../lib/text/text.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { ContactField } from './headings.js'
import { readContact } from './import.js'
import { type Import, type ImportResult, importFile, type RowContent } from './import-file.js'

const FIELDS: readonly ContactField[] = ['phone_number', 'chat_id', 'full_name', 'opted_out_at']

/** ISO 8601: a date, or a date and time; seconds, fraction and zone are optional. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/

/**
 * Imports a CSV file of contacts that do not want broadcasts, as `importFile` does. Unknown contacts are created;
 * existing opt-outs keep their date.
 */
export function importOptOuts(
  ctx: OperatorContext,
  organization: Organization,
  path: string,
  report: (results: ImportResult[]) => Promise<void>,
): Promise<Import> {
  const kind = { fields: FIELDS, readContact: readOptOut, leaveExisting: false }
  return importFile(ctx, organization, path, { kind, report })
}

function readOptOut(
  organization: Organization,
  { opted_out_at, ...fields }: Record<string, unknown>,
  now: Date,
): RowContent {
  const { contact, ...number } = readContact(organization, fields, now)
  const optOut = {
    allow_broadcast: false,
    opted_out_at: typeof opted_out_at === 'string' ? readTime(opted_out_at, now) : now,
    source: { type: 'opt_out_import', created_at: now.toISOString() },
  }
  return { ...number, contact: { ...contact, ...optOut } }
}

/** A time without a zone is UTC. */
function readTime(text: string, now: Date): Date {
  const found = isCalendarDate(text) ? TIME.exec(text) : null
  const zone = text.length > 'YYYY-MM-DD'.length && !found?.groups?.zone ? 'Z' : ''
  const time = new Date(found ? text.replace(' ', 'T') + zone : Number.NaN)
  if (!(time <= now)) {
    throw new Problem(
      'invalid_field',
      `opted_out_at "${excerpt(text)}" must be a date in the past, such as 2026-03-31 or 2026-03-31T14:30:00Z`,
    )
  }
  return time
}
