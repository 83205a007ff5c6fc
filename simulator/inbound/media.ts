import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { JsonObject } from '../../src/lib/text/json.js'
import type { InboundMessage } from '../../src/upstream/wire.js'
import type { Context } from '../context.js'
import { invalidField, isProblem, type Problem } from '../control/problems.js'
import { type MediaFile, newMediaId } from '../media/store.js'
import { isMediaKind, type MediaKind } from '../media/types.js'
import { samples } from './sample-files.js'

/** The file data that a callback contains. */
type File = Pick<MediaFile, 'id' | 'mimeType' | 'sha256'>

/**
 * Stores the file of a message and adds its fields to the callback; messages without files are returned unchanged. The
 * file is the upload `id`, the Base64 in `data`, or a built-in sample.
 */
export async function withMedia(
  context: Context,
  phoneNumberId: string,
  message: InboundMessage,
): Promise<InboundMessage | Problem> {
  const { type } = message
  if (!isMediaKind(type)) return message
  const media = (message[type] ?? {}) as JsonObject
  const complaint = complaintAbout(type, media)
  if (complaint) return invalidField(complaint)
  const file = await storeFile(context, phoneNumberId, type, media)
  if (isProblem(file)) return file
  const { id, mimeType, sha256 } = file
  const { data: _, ...payload } = media
  const fields = { id, mime_type: mimeType, sha256: Buffer.from(sha256, 'hex').toString('base64') }
  return { ...message, [type]: { ...fields, ...extraFields(type), ...payload } }
}

function complaintAbout(type: MediaKind, payload: JsonObject): string | null {
  const wrong = ['id', 'mime_type'].find((key) => {
    const value = payload[key]
    return value !== undefined && (typeof value !== 'string' || value === '')
  })
  return wrong === undefined ? null : `${type}.${wrong} must be a string that is not empty`
}

async function storeFile(
  context: Context,
  phoneNumberId: string,
  type: MediaKind,
  { data, ...payload }: JsonObject,
): Promise<File | Problem> {
  const { id = newMediaId(), mime_type: mimeType = samples[type].mimeType } = payload as Record<string, string>
  const file = { id, phoneNumberId, mimeType, isUpload: false }
  if (data !== undefined) {
    const bytes = readBase64(data)
    if (!bytes) return invalidField(`${type}.data must be Base64 of at least one byte`)
    const path = await context.mediaFolder.newPath()
    await writeFile(path, bytes, { flag: 'wx', mode: 0o600 })
    return context.media.add({ ...file, ...sizeAndHash(bytes), content: { path } })
  }
  const known = context.media.find(id)
  if (known) {
    known.readers.add(phoneNumberId)
    return known
  }
  const { bytes } = samples[type]
  const sample = { ...file, ...sizeAndHash(bytes), content: { bytes } }
  return context.magicMedia.isMissing(id) ? sample : context.media.add(sample)
}

function readBase64(data: unknown): Buffer | null {
  if (typeof data !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return null
  return Buffer.from(data, 'base64')
}

function sizeAndHash(bytes: Buffer): Pick<MediaFile, 'size' | 'sha256'> {
  return { size: bytes.length, sha256: hash('sha256', bytes, 'hex') }
}

function extraFields(type: MediaKind): JsonObject {
  if (type === 'audio') return { voice: true }
  return type === 'sticker' ? { animated: false } : {}
}
