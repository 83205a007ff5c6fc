import type { Context } from '../../context.js'
import { writeCsv } from '../../lib/text/csv-write.js'
import { writeJsonList } from '../../lib/text/json-write.js'
import { type PresentedOptOut, presentOptOut } from '../../model/contacts/opt-out.js'
import type { Organization } from '../../model/organizations/organization.js'
import type { ExportFormat } from './export.js'
import { eachOptOut } from './opt-outs.js'

const COLUMNS: readonly (keyof PresentedOptOut)[] = [
  'contactId',
  'chatNumber',
  'contactName',
  'opted_out_at',
  'source',
  'words',
]

/** All opt-outs of an organization as one file, newest first. It is read from the database while it is streamed. */
export function exportOptOuts(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  format: ExportFormat,
): AsyncGenerator<string> {
  const shown = present(ctx, organization)
  return format === 'json' ? writeJsonList('optOuts', shown) : writeCsv(COLUMNS, toRows(shown))
}

async function* present(ctx: Pick<Context, 'database'>, organization: Organization): AsyncGenerator<PresentedOptOut> {
  for await (const contact of eachOptOut(ctx, organization)) yield presentOptOut(contact)
}

async function* toRows(optOuts: AsyncIterable<PresentedOptOut>): AsyncGenerator<string[]> {
  for await (const optOut of optOuts) yield COLUMNS.map((column) => optOut[column] ?? '')
}
