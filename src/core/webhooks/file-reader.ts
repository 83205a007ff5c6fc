import type { Context } from '../../context.js'
import { createSemaphore } from '../../lib/async/semaphore.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { blobKey } from '../../model/messages/media.js'
import { findMedia } from '../../storage/messages/media.js'
import type { EndpointRow } from '../../storage/webhooks/health.js'

export type FileContext = Pick<Context, 'database' | 'blobs'>

/** What is larger is not posted: its address is in the message. */
const MAX_BYTES = 16 * MEBIBYTE
/** So many files are in memory at a time, each some four times over. */
const MAX_FILES = 4

/**
 * Makes the function that reads a stored file as Base64 and has it used; null where it is too large, or not kept any more. One at a time of
 * each webhook, so that one that is slow to take them does not keep the others from theirs.
 */
export function createFileReader(ctx: FileContext) {
  const anyFile = createSemaphore(MAX_FILES)
  const perWebhook = new Map<string, { take: ReturnType<typeof createSemaphore>; waiting: number }>()

  return async <Result>(
    { organization_id, id }: Pick<EndpointRow, 'organization_id' | 'id'>,
    mediaId: string,
    use: (base64: string | null) => Promise<Result>,
  ): Promise<Result> => {
    const own = perWebhook.get(id) ?? { take: createSemaphore(1), waiting: 0 }
    perWebhook.set(id, own)
    own.waiting += 1
    try {
      return await own.take(() => anyFile(async () => use(await readBase64(ctx, organization_id, mediaId))))
    } finally {
      own.waiting -= 1
      if (own.waiting === 0) perWebhook.delete(id)
    }
  }
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
