import type { Context } from '../../context.js'
import { inBatches } from '../../lib/async/batches.js'
import type { ReadList } from '../../model/broadcasts/read-list.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { UploadedRecipient } from '../../storage/broadcasts/uploaded-audiences.js'
import { type AudienceFile, readAudienceFile } from './audience-file.js'
import { countListedRecipients } from './count-audience.js'
import { type RecipientInput, toNumber } from './list-recipients.js'
import { LISTED_BATCH } from './prepare.js'
import { createTally, readRecipients } from './uploaded-audiences.js'

/**
 * What a file of recipients holds, and whom a broadcast to them would reach now. Stores nothing. Throws as
 * createAudience, but for a file without any recipient.
 */
export async function readList(
  ctx: Pick<Context, 'database' | 'clock'>,
  tenant: Tenant,
  file: AudienceFile,
): Promise<ReadList> {
  const tally = createTally()
  const list: Pick<ReadList, 'columns' | 'ignored'> & { first: RecipientInput | null } = {
    columns: [],
    ignored: [],
    first: null,
  }
  const rows = readAudienceFile(file, ({ fields, ignored }) => Object.assign(list, { columns: fields, ignored }))
  const counted = await countListedRecipients(
    ctx,
    tenant,
    toInputs(readRecipients(ctx, tenant, rows, tally), (first) => (list.first = first)),
  )
  const { recipients, rejected, errors, doubts, doubtful } = tally
  // A number that was read has its country code, so only the reader knows of doubts.
  return { recipients, rejected, errors, ...list, reach: { ...counted, doubts, doubtful } }
}

async function* toInputs(
  rows: AsyncIterable<UploadedRecipient>,
  onFirst: (first: RecipientInput) => void,
): AsyncGenerator<RecipientInput[]> {
  for await (const batch of inBatches(rows, LISTED_BATCH)) {
    const inputs = batch.map(toInput)
    if (batch[0]?.n === 1 && inputs[0]) onFirst(inputs[0])
    yield inputs
  }
}

function toInput({ address, name, parameters }: UploadedRecipient): RecipientInput {
  const own = parameters && { bodyParameters: parameters.body, buttonParameters: parameters.buttons }
  return { chatNumber: toNumber(address) ?? '', ...(name !== null && { name }), ...own }
}
