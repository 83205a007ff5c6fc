import type { Context } from '../../context.js'
import { Problem } from '../../model/problem.js'

const TIMEOUT_MS = 30_000

/**
 * Downloads a file that a client gives by URL to a new file at `path`. `field` is the field that named it. Throws
 * invalid_media.
 */
export async function downloadFile(
  ctx: Pick<Context, 'fetcher'>,
  { field, url }: { field: string; url: string },
  path: string,
  maxBytes: number,
): Promise<void> {
  const downloaded = await ctx.fetcher.download(url, path, { maxBytes, timeoutMs: TIMEOUT_MS })
  if (downloaded.outcome === 'downloaded') return
  const { reason, text } = downloaded
  const remedy =
    reason === 'private_address'
      ? '. Give an address that the internet can reach, or have the operator allow it (PARLEY_ALLOWED_PRIVATE_HOSTS)'
      : ''
  throw new Problem('invalid_media', `${field} cannot be used: ${text}${remedy}`, { reason })
}
