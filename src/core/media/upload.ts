import { stat } from 'node:fs/promises'
import type { ChannelDriver } from '../../channels/driver.js'
import type { Context } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { detectFileType } from '../../lib/files/file-type.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { FileSource } from '../../model/messages/content.js'
import { blobKey, MEDIA_RULES, type MediaKind } from '../../model/messages/media.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { insertMedia } from '../../storage/messages/media.js'
import type { UploadOutcome } from '../../upstream/media.js'
import { upstreamBackoff } from '../organizations/upstream-backoff.js'
import { downloadFile } from './download.js'
import { storeFailure } from './store-failure.js'

export interface MediaInput {
  /** The id of the stored file. */
  id: string
  kind: MediaKind
  source: FileSource
  /** The field that named the file, for error messages. */
  field: string
  /** The display name of a document, if given. */
  filename: string | null
}

/** A file that is stored and that the channel knows. */
export interface UploadedMedia {
  channelMediaId: string
  filename: string | null
  mimeType: string
  /** In bytes. */
  size: number
}

const MAX_UPLOADS = 3
/** How much every mebibyte adds to the timeout of an upload. */
const UPLOAD_MS_PER_MEBIBYTE = 1_000
/** Up to 240 characters without invisible ones, direction marks and path separators, and not only an extension. */
const PLAIN_NAME = /^[^\p{C}/\\.][^\p{C}/\\]{0,239}$/u

/**
 * Downloads a file from its URL, checks its type, uploads it to the channel, and stores it. Throws invalid_media,
 * upstream_upload_failed, service_unavailable if it cannot be stored, and too_many_requests if too many uploads are in
 * progress.
 */
export function uploadMedia(
  ctx: Context,
  tenant: Tenant,
  driver: ChannelDriver,
  given: MediaInput,
): Promise<UploadedMedia> {
  const { source } = given
  // Files in the spool were counted when they were received.
  if ('path' in source) return uploadFromSpool(ctx, tenant, driver, { ...given, path: source.path })
  return ctx.limits.sentFiles.pass(tenant.id, () =>
    ctx.spool.use(async (path) => {
      const { field, kind } = given
      await downloadFile(ctx, { field, url: source.url }, path, MEDIA_RULES[kind].maxBytes)
      return uploadFromSpool(ctx, tenant, driver, { ...given, path })
    }),
  )
}

async function uploadFromSpool(
  ctx: Context,
  tenant: Tenant,
  driver: ChannelDriver,
  given: MediaInput & { path: string },
): Promise<UploadedMedia> {
  const { path } = given
  const size = await checkSize(given, path)
  const { mimeType, extension } = await checkType(given, path)
  const file = { id: given.id, path, size, mimeType, extension }
  const channelMediaId = await uploadFile(ctx, driver, file)
  const filename = given.kind === 'document' ? (given.filename ?? nameOf(given.source, extension)) : null
  await insertMedia(ctx.database, tenant.id, { id: given.id, mimeType, size, filename, messageId: null })
  await store(ctx, blobKey(tenant.id, given.id), path, mimeType)
  return { channelMediaId, filename, mimeType, size }
}

async function checkSize({ kind, field }: MediaInput, path: string): Promise<number> {
  const { size } = await stat(path)
  const { maxBytes } = MEDIA_RULES[kind]
  if (size > 0 && size <= maxBytes) return size
  const reason = size === 0 ? 'empty' : 'too_big'
  const text = size === 0 ? 'it is empty' : `it has ${size} bytes, and ${kind} messages take ${maxBytes} at most`
  throw new Problem('invalid_media', `${field} cannot be used: ${text}`, { reason })
}

async function checkType({ kind, field }: MediaInput, path: string): Promise<{ mimeType: string; extension: string }> {
  const mimeType = await detectFileType(path)
  const { types, names } = MEDIA_RULES[kind]
  const extension = mimeType === null ? undefined : types[mimeType]
  if (mimeType !== null && extension !== undefined) return { mimeType, extension }
  const found = mimeType === null ? 'its content is of no known type' : `its content is ${mimeType}`
  throw new Problem('invalid_media', `${field} cannot be used: ${found}, and ${kind} messages take ${names}`, {
    reason: 'wrong_type',
  })
}

/** Uploads a file, with retries; resolves to the channel's id of it. Throws upstream_upload_failed. */
export async function uploadFile(
  ctx: Context,
  driver: ChannelDriver,
  file: Parameters<ChannelDriver['upload']>[0],
): Promise<string> {
  const timeoutMs = ctx.upstreamTimeoutMs + Math.ceil((file.size / MEBIBYTE) * UPLOAD_MS_PER_MEBIBYTE)
  const leftMs = startCountdown(timeoutMs)
  for (let attempt = 1; ; attempt++) {
    const uploaded = await driver.upload(file, leftMs())
    if (uploaded.outcome === 'uploaded') return uploaded.mediaId
    const delay = retryDelay(uploaded, attempt)
    if (delay === null || delay >= leftMs()) throw uploadFailed(uploaded)
    await sleep(delay)
  }
}

/** Milliseconds until the next try; null for none. */
function retryDelay(uploaded: UploadOutcome, attempt: number): number | null {
  if (uploaded.outcome !== 'failed' || !uploaded.mayRetry || attempt === MAX_UPLOADS) return null
  return uploaded.retryAfterMs ?? upstreamBackoff(attempt)
}

function uploadFailed({ code, text }: Exclude<UploadOutcome, { outcome: 'uploaded' }>): Problem {
  return new Problem('upstream_upload_failed', 'Failed to upload media to upstream', {
    details: text,
    ...(code === null ? {} : { upstream_code: code }),
  })
}

async function store(ctx: Context, key: string, path: string, mimeType: string): Promise<void> {
  await ctx.blobs.put(key, path, mimeType).catch((error: unknown) => {
    throw storeFailure(ctx, error, 'Files cannot be stored', { key })
  })
}

/** A document without a name gets the name from its URL, if that has the right extension and is safe to show. */
function nameOf(source: FileSource, extension: string): string {
  const last = 'url' in source ? decode(new URL(source.url).pathname.split('/').at(-1) ?? '') : ''
  const isName = PLAIN_NAME.test(last) && last.toLowerCase().endsWith(`.${extension}`)
  return isName ? last : `document.${extension}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
