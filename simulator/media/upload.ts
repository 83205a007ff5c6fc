import type { Readable } from 'node:stream'
import { isAnimatedWebp, WEBP_HEAD } from '../../src/lib/files/webp.js'
import { UPSTREAM_LIMITS } from '../../src/upstream/limits.js'
import { checkSender } from '../authorization.js'
import type { Context } from '../context.js'
import { type Refusal, refusals } from '../errors/refusals.js'
import { type ReceivedFile, receiveFile } from './files.js'
import { newMediaId } from './store.js'
import { acceptedTypes, kindOf, type MediaKind, sizeLimitOf } from './types.js'
import { readUploadForm, type UploadForm } from './upload-form.js'

/** The outcome of a post to `/media`. */
export type UploadOutcome = { kind: 'refused'; refusal: Refusal } | { kind: 'stored'; mediaId: string }

export interface UploadRequest {
  phoneNumberId: string
  /** The `Authorization` header. */
  authorization: string | undefined
  contentType: string
  body: Readable
}

interface UploadedFile extends ReceivedFile {
  mimeType: string
  path: string | null
}

/** Handles a post to `/{phone_number_id}/media`. The body is read to its end, except without a valid token. */
export async function handleUpload(
  context: Context,
  { phoneNumberId, authorization, contentType, body }: UploadRequest,
): Promise<UploadOutcome> {
  const notAllowed = checkSender(context, phoneNumberId, authorization)
  if (notAllowed) return { kind: 'refused', refusal: notAllowed }
  const form = await readUploadForm(contentType, body, (bytes, mimeType) => receive(context, bytes, mimeType))
  const file = chooseFile(context, form)
  if ('status' in file) {
    if (form.file?.path) await context.mediaFolder.remove(form.file.path)
    return { kind: 'refused', refusal: file }
  }
  const { id } = await context.media.add({
    id: newMediaId(),
    phoneNumberId,
    mimeType: file.mimeType,
    size: file.size,
    sha256: file.sha256,
    isUpload: true,
    content: file.path === null ? null : { path: file.path },
  })
  return { kind: 'stored', mediaId: id }
}

/** Nothing is stored of a file with a refused type. */
async function receive(context: Context, bytes: AsyncIterable<Buffer>, mimeType: string): Promise<UploadedFile> {
  const kind = kindOf(mimeType)
  const path = kind && context.settings.keep_media ? await context.mediaFolder.newPath() : null
  const limit = kind ? sizeLimitOf(kind) : 0
  return { ...(await receiveFile(bytes, { path, limit, headLength: WEBP_HEAD })), mimeType, path }
}

/** The file of the form, or the refusal. */
function chooseFile(
  { random, settings }: Context,
  { isComplete, fields, file }: UploadForm<UploadedFile>,
): UploadedFile | Refusal {
  if (!isComplete) return refusals.invalidParameter('The request body is not a complete multipart/form-data form.')
  const product = fields.get('messaging_product')
  if (product === undefined) return refusals.invalidParameter('The parameter messaging_product is required.')
  if (product !== 'whatsapp') {
    return refusals.invalidParameter(`Param messaging_product must be one of {WHATSAPP} - got "${product}".`)
  }
  if (!file) return refusals.invalidParameter('The parameter file is required.')
  const refusal = checkFile(file)
  if (refusal) return refusal
  return random.chance(settings.upload_fails) ? refusals.internal() : file
}

function checkFile(file: UploadedFile): Refusal | null {
  const kind = kindOf(file.mimeType)
  if (!kind) {
    return refusals.invalidParameter(
      `Param file must be a file with one of the following types: ${acceptedTypes.join(', ')}. Received file of type '${file.mimeType}'.`,
    )
  }
  if (file.size === 0) return refusals.mediaError('The file is empty.')
  const limit = limitOf(kind, file)
  if (file.size <= limit) return null
  return refusals.mediaError(`The file has ${file.size} bytes. Max size for ${file.mimeType} is ${limit}.`)
}

function limitOf(kind: MediaKind, { head }: UploadedFile): number {
  return kind === 'sticker' && !isAnimatedWebp(head) ? UPSTREAM_LIMITS.staticSticker : sizeLimitOf(kind)
}
