import { stat } from 'node:fs/promises'
import type { ChannelDriver } from '../../channels/driver.js'
import type { Context } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { detectFileType } from '../../lib/files/file-type.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { FileSource } from '../../model/messages/content.js'
import { MEDIA_RULES, type MediaKind } from '../../model/messages/media.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { UploadOutcome } from '../../upstream/media.js'
import { upstreamBackoff } from '../organizations/upstream-backoff.js'
import { fetchFile } from './fetch-file.js'
import { storeFile } from './store.js'

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

/** A file that is stored. */
export interface KeptMedia {
  filename: string | null
  mimeType: string
  /** In bytes. */
  size: number
}

/** A file that is stored and that the channel knows. */
export interface UploadedMedia extends KeptMedia {
  channelMediaId: string
}

const MAX_UPLOADS = 3
/** How much every mebibyte adds to the timeout of an upload. */
const UPLOAD_MS_PER_MEBIBYTE = 1_000
/** Up to 240 characters without invisible ones, direction marks and path separators, and not only an extension. */
const PLAIN_NAME = /^[^\p{C}/\\.][^\p{C}/\\]{0,239}$/u

/**
 * Fetches a file, checks its type, uploads it to the channel, and stores it unless it is stored already. Throws
 * invalid_media, UploadFailed, service_unavailable if it cannot be stored, too_many_requests if too many uploads are in
 * progress, and not_found if a stored one is gone.
 */
export function uploadMedia(
  ctx: Context,
  tenant: Tenant,
  driver: ChannelDriver,
  given: MediaInput,
): Promise<UploadedMedia> {
  return withSpooled(ctx, tenant, given, async (named, path) => {
    const file = await checkFile(named, path)
    const channelMediaId = await uploadFile(ctx, driver, file)
    if (!('kept' in named.source)) return { channelMediaId, ...(await keep(ctx, tenant, named, file)) }
    const { filename, mime_type: mimeType, size } = named.source.kept
    return { channelMediaId, filename, mimeType, size }
  })
}

/** The same, without the channel, for a file that is sent later. Throws like uploadMedia. */
export function keepMedia(ctx: Context, tenant: Tenant, given: MediaInput): Promise<KeptMedia> {
  return withSpooled(ctx, tenant, given, async (named, path) => keep(ctx, tenant, named, await checkFile(named, path)))
}

/** Has the file in the spool while `work` runs, with the name that it was uploaded with if no other is given. */
function withSpooled<Result>(
  ctx: Context,
  tenant: Tenant,
  given: MediaInput,
  work: (named: MediaInput, path: string) => Promise<Result>,
): Promise<Result> {
  const { source, field, kind } = given
  // Files in the spool were counted when they were received.
  if ('path' in source) return work(given, source.path)
  const fetched = () =>
    ctx.spool.use(async (path) => {
      const request = { organizationId: tenant.id, field, source }
      const name = await fetchFile(ctx, request, path, MEDIA_RULES[kind].maxBytes)
      return work({ ...given, filename: given.filename ?? name }, path)
    })
  // Jobs that send stored files have places of their own.
  return 'kept' in source ? fetched() : ctx.limits.sentFiles.pass(tenant.id, fetched)
}

type SpooledFile = Parameters<ChannelDriver['upload']>[0]

async function checkFile(given: MediaInput, path: string): Promise<SpooledFile> {
  const size = await checkSize(given, path)
  return { id: given.id, path, size, ...(await checkType(given, path)) }
}

async function keep(
  ctx: Context,
  tenant: Tenant,
  { id, kind, source, filename: given }: MediaInput,
  { path, size, mimeType, extension }: SpooledFile,
): Promise<KeptMedia> {
  const filename = kind === 'document' ? (given ?? nameOf(source, extension)) : null
  await storeFile(ctx, tenant.id, { id, path, mimeType, size, filename })
  return { filename, mimeType, size }
}

/** The size of a file in the spool, in bytes. Throws invalid_media if it is empty or too big for its kind. */
export async function checkSize({ kind, field }: Pick<MediaInput, 'kind' | 'field'>, path: string): Promise<number> {
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

/** Uploads a file, with retries; resolves to the channel's id of it. Throws UploadFailed. */
export async function uploadFile(ctx: Context, driver: ChannelDriver, file: SpooledFile): Promise<string> {
  const timeoutMs = ctx.upstreamTimeoutMs + Math.ceil((file.size / MEBIBYTE) * UPLOAD_MS_PER_MEBIBYTE)
  const leftMs = startCountdown(timeoutMs)
  for (let attempt = 1; ; attempt++) {
    const uploaded = await driver.upload(file, leftMs())
    if (uploaded.outcome === 'uploaded') return uploaded.mediaId
    const delay = retryDelay(uploaded, attempt)
    if (delay === null || delay >= leftMs()) throw new UploadFailed(uploaded)
    await sleep(delay)
  }
}

/** Milliseconds until the next try; null for none. */
function retryDelay(uploaded: UploadOutcome, attempt: number): number | null {
  if (uploaded.outcome !== 'failed' || !uploaded.mayRetry || attempt === MAX_UPLOADS) return null
  return uploaded.retryAfterMs ?? upstreamBackoff(attempt)
}

/** The upstream did not take a file: upstream_upload_failed. */
export class UploadFailed extends Problem {
  /** Whether it may take the file later. */
  readonly mayPass: boolean

  constructor({ outcome, code, text }: Exclude<UploadOutcome, { outcome: 'uploaded' }>) {
    super('upstream_upload_failed', 'Failed to upload media to upstream', {
      details: text,
      ...(code === null ? {} : { upstream_code: code }),
    })
    this.mayPass = outcome === 'failed'
  }
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
