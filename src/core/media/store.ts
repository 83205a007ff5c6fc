import type { Context } from '../../context.js'
import { blobKey } from '../../model/messages/media.js'
import { insertMedia } from '../../storage/messages/media.js'
import { storeFailure } from './store-failure.js'

/** A file in the spool, and what is known of it. */
export interface NewFile {
  id: string
  path: string
  mimeType: string
  /** In bytes. */
  size: number
  filename: string | null
}

/**
 * Stores a file that no message shows yet. Its row is written first, so that the bytes that a killed process leaves
 * behind are found. Throws service_unavailable.
 */
export async function storeFile(ctx: Context, organizationId: string, file: NewFile): Promise<void> {
  const { id, path, mimeType, size, filename } = file
  await insertMedia(ctx.database, organizationId, { id, mimeType, size, filename, messageId: null })
  const key = blobKey(organizationId, id)
  await ctx.blobs.put(key, path, mimeType).catch((error: unknown) => {
    throw storeFailure(ctx, error, 'Files cannot be stored', { key })
  })
}
