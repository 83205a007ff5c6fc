import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Context } from '../../context.js'
import { detectFileType } from '../../lib/files/file-type.js'
import { receiveFile } from '../../lib/files/receive-file.js'
import { asObject, asText, isJsonObject, type JsonObject } from '../../lib/text/json.js'
import { MEBIBYTE, sizeText } from '../../lib/text/units.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { BusinessAccount } from '../../upstream/client.js'
import { downloadFile } from '../media/download.js'
import { withArriving } from '../requests/arriving-files.js'
import { toProblem } from './upstream-failure.js'
import { openAccount } from './written.js'

/** What the upstream takes as an example of each format of a header. */
const EXAMPLES: Record<string, { maxBytes: number; types: Record<string, string>; names: string }> = {
  IMAGE: { maxBytes: 5 * MEBIBYTE, types: { 'image/jpeg': 'jpg', 'image/png': 'png' }, names: 'JPEG or PNG' },
  VIDEO: { maxBytes: 16 * MEBIBYTE, types: { 'video/mp4': 'mp4' }, names: 'MP4' },
  DOCUMENT: { maxBytes: 100 * MEBIBYTE, types: { 'application/pdf': 'pdf' }, names: 'PDF' },
}
/** The types of the files that may be uploaded. */
export const EXAMPLE_TYPES = Object.values(EXAMPLES).flatMap(({ types }) => Object.keys(types))
/** Of the largest file. */
export const MAX_EXAMPLE_BYTES = 100 * MEBIBYTE
/** The name of a received file in error messages. */
const FILE = 'The file'
/** How much every mebibyte adds to the timeout of an upload. */
const UPLOAD_MS_PER_MEBIBYTE = 1_000

/** A file that was uploaded as an example. */
export interface UploadedExample {
  handle: string
  /** The format of the header that it fits: IMAGE, VIDEO or DOCUMENT. */
  format: string
}

/** A complete file in the spool. */
export interface ReceivedExample {
  path: string
  /** Hexadecimal. */
  sha256: string
}

/**
 * Receives an example file into the spool and passes it to `work`; it is removed when the work ends. Throws
 * invalid_media, too_many_requests, service_unavailable.
 */
export function withExample<Result>(
  ctx: Pick<Context, 'limits' | 'spool'>,
  tenant: Tenant,
  source: Readable,
  work: (file: ReceivedExample) => Promise<Result>,
): Promise<Result> {
  const { sentFiles } = ctx.limits
  sentFiles.check(tenant.id)
  return withArriving(ctx, tenant.id, source, (arriving) =>
    ctx.spool.use(async (path) => {
      const received = await receiveFile(arriving, path, MAX_EXAMPLE_BYTES)
      if (received.outcome === 'too_big') {
        throw unusable(FILE, `it has more than ${sizeText(MAX_EXAMPLE_BYTES)}`, 'too_big')
      }
      if (received.outcome === 'broken_off') {
        throw unusable(FILE, 'the upload ended before the file was complete: send it again', 'broken_off')
      }
      const sha256 = received.sha256.toString('hex')
      return sentFiles.pass(tenant.id, () => work({ path, sha256 }))
    }),
  )
}

/**
 * Uploads a received file as an example for headers of templates. Throws invalid_provider, invalid_media,
 * upstream_credentials, upstream_unavailable, too_many_requests, template_rejected.
 */
export async function uploadExample(ctx: Context, tenant: Tenant, path: string): Promise<UploadedExample> {
  return uploadFile(ctx, openAccount(ctx, tenant), { path, field: FILE, format: null })
}

/**
 * The components with the handles of their example files: where an address is given instead of a handle, its file is
 * fetched and uploaded, each address once. Throws as uploadExample, without
 * invalid_provider.
 */
export async function withHandles(
  ctx: Context,
  tenant: Tenant,
  account: BusinessAccount,
  components: readonly JsonObject[],
): Promise<JsonObject[]> {
  const handles = new Map<string, string>()
  const upload = async (url: string, format: string): Promise<string> => {
    const known = handles.get(url)
    if (known !== undefined) return known
    const field = `header_handle "${url.slice(0, 200)}"`
    const { handle } = await ctx.limits.sentFiles.pass(tenant.id, () =>
      ctx.spool.use(async (path) => {
        await downloadFile(ctx, { field, url }, path, EXAMPLES[format]?.maxBytes ?? 0)
        return uploadFile(ctx, account, { path, field, format })
      }),
    )
    handles.set(url, handle)
    return handle
  }
  const resolved: JsonObject[] = []
  for (const component of components) resolved.push(await withHandle(component, upload))
  return resolved
}

/** One component, or a carousel with the headers of its cards. */
async function withHandle(
  component: JsonObject,
  upload: (url: string, format: string) => Promise<string>,
): Promise<JsonObject> {
  if (Array.isArray(component.cards)) {
    const cards: unknown[] = []
    for (const card of component.cards as unknown[]) cards.push(await withHandlesOfCard(card, upload))
    return { ...component, cards }
  }
  const format = asText(component.format) ?? ''
  const example = asObject(component.example)
  const [url] = Array.isArray(example.header_handle) ? (example.header_handle as unknown[]) : []
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url) || !Object.hasOwn(EXAMPLES, format)) return component
  return { ...component, example: { ...example, header_handle: [await upload(url, format)] } }
}

async function withHandlesOfCard(
  card: unknown,
  upload: (url: string, format: string) => Promise<string>,
): Promise<unknown> {
  if (!isJsonObject(card) || !Array.isArray(card.components)) return card
  const components: unknown[] = []
  for (const one of card.components as unknown[]) {
    components.push(isJsonObject(one) ? await withHandle(one, upload) : one)
  }
  return { ...card, components }
}

/** A file in the spool; `format` is the one that it must have, null: any. */
interface SpooledExample {
  path: string
  field: string
  format: string | null
}

async function uploadFile(
  ctx: Context,
  account: BusinessAccount,
  { path, field, format: wanted }: SpooledExample,
): Promise<UploadedExample> {
  const { size } = await stat(path)
  if (size === 0) throw unusable(field, 'it is empty', 'empty')
  const mimeType = (await detectFileType(path)) ?? 'of no known type'
  const found = Object.entries(EXAMPLES).find(
    ([format, { types }]) => (wanted ?? format) === format && Object.hasOwn(types, mimeType),
  )
  if (!found) {
    const names = wanted === null ? 'JPEG, PNG, MP4 or PDF' : (EXAMPLES[wanted]?.names ?? wanted)
    throw unusable(field, `its content is ${mimeType}, and the example must be ${names}`, 'wrong_type')
  }
  const [format, { maxBytes, types }] = found
  if (size > maxBytes) {
    throw unusable(field, `it has ${size} bytes, and an example of ${format} may have ${maxBytes}`, 'too_big')
  }
  const timeoutMs = ctx.upstreamTimeoutMs + Math.ceil((size / MEBIBYTE) * UPLOAD_MS_PER_MEBIBYTE)
  const file = { path, size, mimeType, extension: types[mimeType] ?? 'bin' }
  const uploaded = await ctx.upstream.uploadExample(account, file, timeoutMs)
  if (uploaded.outcome === 'uploaded') return { handle: uploaded.handle, format }
  // An unused file at the upstream does no harm, so an upload can always be repeated.
  const { outcome, text } = uploaded
  throw toProblem(outcome === 'unknown' ? { outcome: 'failed', text } : uploaded, 'take the example file')
}

function unusable(field: string, text: string, reason: string): Problem {
  return new Problem('invalid_media', `${field} cannot be used: ${text}`, { reason })
}
