import { kindOfType, type MediaKind } from './media.js'

/** A file that a client has uploaded to send it, until it expires. */
export interface UploadedFile {
  organization_id: string
  id: string
  mime_type: string
  /** In bytes. */
  size: number
  filename: string | null
  created_at: Date
  expires_at: Date
}

const KEPT_MS = 24 * 60 * 60_000
/** Up to 240 characters. */
const MAX_NAME = 240

/** Until when a file that is uploaded now can be sent. */
export function uploadExpiry(now: Date): Date {
  return new Date(now.getTime() + KEPT_MS)
}

/** Pictures that stickers are made of; sounds of all formats become voice notes. */
const CONVERTED = ['image/gif', 'image/bmp', 'image/tiff']
/** A browser's recorder writes sound as this. */
const RECORDED = 'video/webm'

/** The type of message that can carry an uploaded file, after a conversion if need be; null: none. */
export function kindOfUpload(mimeType: string): MediaKind | null {
  if (CONVERTED.includes(mimeType)) return 'sticker'
  return kindOfType(mimeType) ?? (mimeType.startsWith('audio/') || mimeType === RECORDED ? 'audio' : null)
}

/** An uploaded file as the API shows it. `media_type`: the messages that can carry it. */
export function presentUploadedFile(file: UploadedFile) {
  const { id, mime_type, size, filename, created_at, expires_at } = file
  return {
    id,
    media_type: kindOfUpload(mime_type) as MediaKind,
    mime_type,
    size,
    filename,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
  }
}

/**
 * The name of a file as it can be shown: without its folders, invisible characters and direction marks. Null if nothing
 * is left, or only an extension.
 */
export function plainName(given: string): string | null {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  const name = [...last.replace(/\p{C}/gu, '').trim()].slice(0, MAX_NAME).join('')
  return name === '' || name.startsWith('.') ? null : name
}
