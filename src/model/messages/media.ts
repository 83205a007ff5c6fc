import { MEBIBYTE } from '../../lib/text/units.js'

/** A file that a message shows; its bytes are in the blob store under `blobKey`. */
export interface StoredMedia {
  organization_id: string
  id: string
  mime_type: string
  /** Bytes. */
  size: number
  /** The display name of a document. */
  filename: string | null
  created_at: Date
}

/** The kinds of message that carry a file (spec 4.3, 4.7). */
export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker'

/** What a client may send of each kind: the most bytes, and the types of file with their extensions (spec 4.3, contract 4). */
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

/** The extension of a type that a client may send. */
export function extensionOf(mimeType: string): string {
  const rule = Object.values(MEDIA_RULES).find(({ types }) => Object.hasOwn(types, mimeType))
  return rule?.types[mimeType] ?? 'bin'
}

/** How long the address of a stored file works, from the time of sending (spec 4.3). */
export function mediaExpiry(sentAt: Date): Date {
  const expiry = new Date(sentAt)
  expiry.setUTCFullYear(expiry.getUTCFullYear() + 1)
  // Of the 29th of February, which the next year does not have.
  if (expiry.getUTCMonth() !== sentAt.getUTCMonth()) expiry.setUTCDate(0)
  return expiry
}

/** The key of a file in the blob store. */
export function blobKey(organizationId: string, mediaId: string): string {
  return `${organizationId}/${mediaId}`
}
