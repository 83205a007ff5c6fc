import type { IncomingHttpHeaders } from 'node:http'
import parseRange from 'range-parser'
import type { StoredMedia } from '../../model/messages/media.js'
import { etagOf } from './headers.js'

/** Whether the client has the file already (`If-None-Match`). */
export function isUnmodified(headers: IncomingHttpHeaders, media: StoredMedia): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etagOf(media))
}

/**
 * The part that is asked for: undefined = the whole, also for several ranges at once and for what is no range (RFC 9110
 * lets a server ignore those); 'unsatisfiable' = none of it is there.
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  media: StoredMedia,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const { range } = headers
  if (range === undefined || !isSameFile(headers['if-range'], media)) return undefined
  const ranges = parseRange(media.size, range)
  // The parser takes the last 100 bytes of a file of 10 for none; they are all.
  const isLongSuffix = /^bytes=\s*-0*[1-9]\d*\s*$/.test(range) && media.size > 0
  if (ranges === -1) return /^bytes=/.test(range) && !isLongSuffix ? 'unsatisfiable' : undefined
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1 || range.includes(',')) return undefined
  return ranges[0]
}

/** Whether the file is still the one of which the client has a part already (`If-Range`: a tag or a date). */
function isSameFile(ifRange: string | string[] | undefined, media: StoredMedia): boolean {
  return ifRange === undefined || ifRange === etagOf(media) || ifRange === media.created_at.toUTCString()
}
