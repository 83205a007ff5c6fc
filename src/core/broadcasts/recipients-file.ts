import type { Context } from '../../context.js'
import { writeCsv } from '../../lib/text/csv-write.js'
import { presentRecipient, type Recipient, type RecipientStatus } from '../../model/broadcasts/broadcast.js'
import type { Organization } from '../../model/organizations/organization.js'
import { eachRecipient } from './read.js'

type Shown = ReturnType<typeof presentRecipient>

/** All fields of a recipient, in the order of the API. */
const COLUMNS: readonly (keyof Shown)[] = [
  'contactId',
  'chatNumber',
  'contactName',
  'status',
  'reason',
  'messageId',
  'errorCode',
  'errorMessage',
  'sent_at',
  'delivered_at',
  'read_at',
]

/**
 * The recipients of a broadcast, optionally of one status, as a CSV file. It is read from the database while it is
 * streamed. Throws broadcast_not_found.
 */
export async function exportRecipients(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  broadcastId: string,
  status: RecipientStatus | null,
): Promise<AsyncGenerator<string>> {
  return writeCsv(COLUMNS, toRows(await eachRecipient(ctx, organization, broadcastId, status)))
}

async function* toRows(recipients: AsyncIterable<Recipient>): AsyncGenerator<string[]> {
  for await (const recipient of recipients) {
    const shown = presentRecipient(recipient)
    yield COLUMNS.map((column) => String(shown[column] ?? ''))
  }
}
