import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Context } from '../../context.js'
import { sizeText } from '../../lib/text/units.js'
import type { FetchableFile } from '../../model/messages/content.js'
import type { StoredMedia } from '../../model/messages/media.js'
import { Problem } from '../../model/problem.js'
import { downloadFile } from './download.js'
import { openMedia } from './read.js'
import { requireUploadedFile, unknownFile } from './uploaded-files.js'

/** A file that a client gives by URL or by id, or a stored one. */
export interface FileRequest {
  organizationId: string
  /** The field that named the file, for error messages. */
  field: string
  source: FetchableFile
}

/**
 * Writes the file to `path`: from its URL, through the address guard, from the uploaded files of the organization, or
 * from the store. Resolves to the name that it was stored with, or null. Throws invalid_media, not_found if a stored
 * one is gone, and service_unavailable if the file store fails.
 */
export async function fetchFile(
  ctx: Context,
  request: FileRequest,
  path: string,
  maxBytes: number,
): Promise<string | null> {
  const { field, source } = request
  if ('kept' in source) return copyStored(ctx, source.kept, path)
  if ('mediaId' in source) return copyUploaded(ctx, { ...request, id: source.mediaId }, path, maxBytes)
  await downloadFile(ctx, { field, url: source.url }, path, maxBytes)
  return null
}

async function copyUploaded(
  ctx: Context,
  { organizationId, field, id }: Omit<FileRequest, 'source'> & { id: string },
  path: string,
  maxBytes: number,
): Promise<string | null> {
  const file = await requireUploadedFile(ctx, organizationId, { id, field })
  if (file.size > maxBytes) {
    const text = `it has ${file.size} bytes, and may have ${sizeText(maxBytes)} at most`
    throw new Problem('invalid_media', `${field} cannot be used: ${text}`, { reason: 'too_big' })
  }
  try {
    return await copyStored(ctx, file, path)
  } catch (error) {
    throw error instanceof Problem && error.code === 'not_found' ? unknownFile(field) : error
  }
}

async function copyStored(
  ctx: Context,
  file: Pick<StoredMedia, 'organization_id' | 'id' | 'filename'>,
  path: string,
): Promise<string | null> {
  await pipeline(await openMedia(ctx, file), createWriteStream(path, { mode: 0o600 }))
  return file.filename
}
