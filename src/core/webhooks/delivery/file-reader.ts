import type { Context } from '../../../context.js'
import { createSemaphore } from '../../../lib/async/semaphore.js'
import { createSerialQueues } from '../../../lib/async/serial-queues.js'
import { MEBIBYTE } from '../../../lib/text/units.js'
import { blobKey } from '../../../model/messages/media.js'
import { findMedia } from '../../../storage/messages/media.js'
import type { EndpointRow } from '../../../storage/webhooks/health.js'

export type FileContext = Pick<Context, 'database' | 'blobs'>

/** Larger files are not posted; the message has their address. */
const MAX_BYTES = 16 * MEBIBYTE
/** Files in memory at the same time; each takes about four times its size. */
const MAX_FILES = 4

/**
 * Creates the function that reads a stored file as base64 and passes it to `use`; null if it is too large or no longer
 * stored. Each webhook gets one at a time, so that a slow endpoint does not block the others.
 */
export function createFileReader(ctx: FileContext) {
  const anyFile = createSemaphore(MAX_FILES)
  const inTurn = createSerialQueues()

  return <Result>(
    { organization_id, id }: Pick<EndpointRow, 'organization_id' | 'id'>,
    mediaId: string,
    use: (base64: string | null) => Promise<Result>,
  ): Promise<Result> => inTurn([id], () => anyFile(async () => use(await readBase64(ctx, organization_id, mediaId))))
}

async function readBase64(ctx: FileContext, organizationId: string, mediaId: string): Promise<string | null> {
  const media = await findMedia(ctx.database, organizationId, mediaId)
  if (media === null || media.size > MAX_BYTES) return null
  const bytes = await ctx.blobs.open(blobKey(organizationId, mediaId))
  if (bytes === null) return null
  const chunks: Buffer[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString('base64')
}
