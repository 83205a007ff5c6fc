import contentDisposition from 'content-disposition'
import { MEDIA_RULES, type StoredMedia } from '../../model/messages/media.js'

/** The types that are served as what they are, with their extensions: none of them is run by a browser. */
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

/** The headers of every answer about a stored file: what a browser may do with it is look at it, or save it. */
export const SAFETY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
}

/** The headers by which a copy of a file is kept and found to be still good; a stored file never changes. */
export function cacheHeaders(media: StoredMedia) {
  return {
    etag: etagOf(media),
    'last-modified': media.created_at.toUTCString(),
    'cache-control': 'private, max-age=31536000, immutable',
  }
}

/** The headers that say what a file is. */
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

/** For clients that read no more than ASCII: without accents, and without what is left then. */
function toAscii(filename: string): string {
  return filename.normalize('NFKD').replace(/[^\x20-\x7e]/g, '')
}

/** The entity tag of a stored file. */
export function etagOf({ id }: StoredMedia): string {
  return `"${id}"`
}

/** The type as it was stored, without parameters, when it is a safe one. */
function contentType(stored: string): string {
  const type = stored.split(';')[0]?.trim().toLowerCase() ?? ''
  const isSafe = Object.hasOwn(EXTENSIONS, type) || /^audio\/[a-z0-9.+-]+$/.test(type)
  return isSafe ? type : 'application/octet-stream'
}
