import contentDisposition from 'content-disposition'
import { MEDIA_RULES, type StoredMedia } from '../../model/messages/media.js'

/** The types served under their own name, with their extensions. Browsers execute none of them. */
const EXTENSIONS: Record<string, string> = {
  ...MEDIA_RULES.image.types,
  ...MEDIA_RULES.video.types,
  ...MEDIA_RULES.audio.types,
  ...MEDIA_RULES.document.types,
  'image/webp': 'webp',
  'image/gif': 'gif',
  'video/3gpp': '3gp',
  'audio/amr': 'amr',
  'audio/mp4': 'm4a',
}

/** Headers of every response: a browser may show or save the file, but not run it. */
export const SAFETY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
}

/** Headers for caching. A stored file never changes. */
export function cacheHeaders(media: StoredMedia) {
  return {
    etag: etagOf(media),
    'last-modified': media.created_at.toUTCString(),
    'cache-control': 'private, max-age=31536000, immutable',
  }
}

/** Headers that describe the file: type, name, and what browsers may do with it. */
export function contentHeaders(media: StoredMedia) {
  const type = contentType(media.mime_type)
  const filename = media.filename || `${media.id}.${EXTENSIONS[type] ?? 'bin'}`
  const isShown = type === 'application/pdf' || /^(image|video|audio)\//.test(type)
  return {
    'content-type': type,
    'content-disposition': contentDisposition(filename, {
      type: isShown ? 'inline' : 'attachment',
      fallback: toAscii(filename),
    }),
    'accept-ranges': 'bytes',
    'content-security-policy': "default-src 'none'; sandbox",
  }
}

/** A name for clients that read only ASCII: accents are stripped, other non-ASCII characters removed. */
function toAscii(filename: string): string {
  return filename.normalize('NFKD').replace(/[^\x20-\x7e]/g, '')
}

/** The entity tag of a stored file. */
export function etagOf({ id }: StoredMedia): string {
  return `"${id}"`
}

/** The stored type without parameters if it is safe, or else `application/octet-stream`. */
function contentType(stored: string): string {
  const type = stored.split(';')[0]?.trim().toLowerCase() ?? ''
  const isSafe = Object.hasOwn(EXTENSIONS, type) || /^audio\/[a-z0-9.+-]+$/.test(type)
  return isSafe ? type : 'application/octet-stream'
}
