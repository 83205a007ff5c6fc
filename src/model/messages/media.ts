import { MEBIBYTE } from '../../lib/text/units.js'

/** A stored file of a message; its bytes are in the blob store under `blobKey`. */
export interface StoredMedia {
  organization_id: string
  id: string
  mime_type: string
  /** In bytes. */
  size: number
  /** The display name of a document. */
  filename: string | null
  created_at: Date
}

/** The types of message that carry a file. */
export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'

/** The limits of each type: the maximum size, and the file types with their extensions. */
export const MEDIA_RULES: Record<MediaKind, { maxBytes: number; types: Record<string, string>; names: string }> = {
  image: { maxBytes: 5 * MEBIBYTE, types: { 'image/jpeg': 'jpg', 'image/png': 'png' }, names: 'JPEG or PNG' },
  video: { maxBytes: 16 * MEBIBYTE, types: { 'video/mp4': 'mp4' }, names: 'MP4' },
  audio: {
    maxBytes: 16 * MEBIBYTE,
    types: { 'audio/mpeg': 'mp3', 'audio/aac': 'aac', 'audio/ogg': 'ogg' },
    names: 'MP3, AAC or OGG',
  },
  sticker: { maxBytes: 500 * 1_024, types: { 'image/webp': 'webp' }, names: 'WebP' },
  document: {
    maxBytes: 100 * MEBIBYTE,
    types: {
      'application/pdf': 'pdf',
      'application/msword': 'doc',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
      'application/vnd.ms-excel': 'xls',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
      'application/vnd.ms-powerpoint': 'ppt',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
    },
    names: 'PDF, DOC, DOCX, XLS, XLSX, PPT or PPTX',
  },
}

/** The type of message that can carry a file of this type; null: none. */
export function kindOfType(mimeType: string): MediaKind | null {
  const kinds = Object.keys(MEDIA_RULES) as MediaKind[]
  return kinds.find((kind) => Object.hasOwn(MEDIA_RULES[kind].types, mimeType)) ?? null
}

/** The extension of a type that clients may send. */
export function extensionOf(mimeType: string): string {
  const kind = kindOfType(mimeType)
  return (kind && MEDIA_RULES[kind].types[mimeType]) ?? 'bin'
}

/** When the URL of a stored file expires, counted from the time of sending. */
export function mediaExpiry(sentAt: Date): Date {
  const expiry = new Date(sentAt)
  expiry.setUTCFullYear(expiry.getUTCFullYear() + 1)
  // The 29th of February does not exist in the next year.
  if (expiry.getUTCMonth() !== sentAt.getUTCMonth()) expiry.setUTCDate(0)
  return expiry
}

/** The key of a file in the blob store. */
export function blobKey(organizationId: string, mediaId: string): string {
  return `${organizationId}/${mediaId}`
}
