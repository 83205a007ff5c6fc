import type { Context } from '../../context.js'
import { isUuid } from '../../lib/bytes/id.js'
import type { UploadedFile } from '../../model/messages/uploaded-file.js'
import { Problem } from '../../model/problem.js'
import { findUploadedFile, removeExpiredFiles } from '../../storage/messages/uploaded-files.js'
import { removeMedia } from './remove.js'

const BATCH = 500

/** An uploaded file by its id. Throws invalid_media if it is unknown or has expired. `field` named it. */
export async function requireUploadedFile(
  ctx: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  { id, field }: { id: string; field: string },
): Promise<UploadedFile> {
  const file = isUuid(id) ? await findUploadedFile(ctx.database, organizationId, id, ctx.clock()) : null
  if (file !== null) return file
  throw unknownFile(field)
}

/** The problem of an id that names no uploaded file. */
export function unknownFile(field: string): Problem {
  return new Problem(
    'invalid_media',
    `${field} cannot be used: no uploaded file of the organization has this id. Upload the file with POST /media; its id is valid for 24 hours`,
    { reason: 'unknown_id' },
  )
}

/** An uploaded file by its id; null if there is none, or it has expired. */
export function findKeptFile(
  ctx: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  id: string,
): Promise<UploadedFile | null> {
  return findUploadedFile(ctx.database, organizationId, id, ctx.clock())
}

/**
 * Removes the files that have expired. Of all tenants. A file whose bytes could not be removed is removed later, as one
 * that no message shows.
 */
export async function removeExpiredUploads(ctx: Context): Promise<void> {
  for (;;) {
    const expired = await removeExpiredFiles(ctx.database, ctx.clock(), BATCH)
    for (const { organization_id, ids } of expired) await removeMedia(ctx, organization_id, ids)
    if (expired.reduce((sum, { ids }) => sum + ids.length, 0) < BATCH) return
  }
}
