import { stat } from 'node:fs/promises'
import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { detectFileType } from '../../lib/files/file-type.js'
import { MEBIBYTE, sizeText } from '../../lib/text/units.js'
import { MEDIA_RULES, type MediaKind } from '../../model/messages/media.js'
import { kindOfUpload, plainName, type UploadedFile, uploadExpiry } from '../../model/messages/uploaded-file.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { insertUploadedFile, lockUploadedFiles, measureUploadedFiles } from '../../storage/messages/uploaded-files.js'
import { removeMedia } from './remove.js'
import { storeFile } from './store.js'
import { checkSize } from './upload.js'

/** A complete file in the spool that is to be kept. */
export interface GivenUpload {
  id: string
  path: string
  /** As the client gave it. */
  filename: string | null
}

/** The most uploaded files that an organization can have at a time, and their bytes: together 20 of the largest. */
export const MAX_UPLOADED_FILES = 10_000
export const MAX_UPLOADED_BYTES = 2_048 * MEBIBYTE
const FIELD = 'The file'

/**
 * Keeps a file for 24 hours, so that it can be sent by its id. Its type is read from its content. Throws invalid_media
 * (no file that messages carry, empty, too big for its kind), too_many_files, service_unavailable if it cannot be
 * stored.
 */
export async function keepUploadedFile(
  ctx: Context,
  tenant: Tenant,
  { id, path, filename }: GivenUpload,
): Promise<UploadedFile> {
  const { size } = await stat(path)
  if (size === 0) throw new Problem('invalid_media', `${FIELD} cannot be used: it is empty`, { reason: 'empty' })
  const { kind, mimeType } = await detectKind(path)
  // A larger picture is made smaller for a sticker.
  await checkSize({ kind: kind === 'sticker' ? 'image' : kind, field: FIELD }, path)
  const name = filename === null ? null : plainName(filename)
  const now = ctx.clock()
  await checkUploadQuota(ctx.database, tenant, now, size)
  await storeFile(ctx, tenant.id, { id, path, mimeType, size, filename: name })
  try {
    return await ctx.database.transaction(async (transaction) => {
      await lockUploadedFiles(transaction, tenant.id)
      await checkUploadQuota(transaction, tenant, now, size)
      const times = { created_at: now, expires_at: uploadExpiry(now) }
      return insertUploadedFile(transaction, tenant.id, { id, mime_type: mimeType, size, filename: name, ...times })
    })
  } catch (error) {
    // Without an answer from the database the file may be noted, so it stays; the cleanup job removes it otherwise.
    if (error instanceof Problem) await removeMedia(ctx, tenant.id, [id])
    throw error
  }
}

/** The kind of message that can carry the file, after a conversion if need be. */
async function detectKind(path: string): Promise<{ kind: MediaKind; mimeType: string }> {
  const mimeType = await detectFileType(path)
  const kind = mimeType === null ? null : kindOfUpload(mimeType)
  if (mimeType !== null && kind !== null) return { kind, mimeType }
  const found = mimeType === null ? 'its content is of no known type' : `its content is ${mimeType}`
  const names = Object.values(MEDIA_RULES).map((rule) => rule.names)
  const message = `${FIELD} cannot be used: ${found}, and messages take ${names.join(', ')}, voice notes any sound, and stickers GIF, BMP and TIFF, too`
  throw new Problem('invalid_media', message, { reason: 'wrong_type' })
}

/** Whether the organization may keep another file of so many bytes. Throws too_many_files. */
export async function checkUploadQuota(db: Queryable, tenant: Tenant, now: Date, bytes = 1): Promise<void> {
  const kept = await measureUploadedFiles(db, tenant.id, now)
  if (kept.files >= MAX_UPLOADED_FILES) {
    throw tooManyFiles(`The organization has ${kept.files} uploaded files, and may have ${MAX_UPLOADED_FILES}`)
  }
  if (kept.bytes + bytes <= MAX_UPLOADED_BYTES) return
  throw tooManyFiles(
    `The organization's uploaded files have ${sizeText(kept.bytes)} together, and may have ${sizeText(MAX_UPLOADED_BYTES)}`,
  )
}

function tooManyFiles(text: string): Problem {
  return new Problem('too_many_files', `${text}: each is removed 24 hours after its upload`)
}
