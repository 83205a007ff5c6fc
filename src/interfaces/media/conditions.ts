import type { IncomingHttpHeaders } from 'node:http'
import parseRange from 'range-parser'
import type { StoredMedia } from '../../model/messages/media.js'
import { etagOf } from './headers.js'

/** Whether the client already has the file (`If-None-Match`). */
export function isUnmodified(headers: IncomingHttpHeaders, media: StoredMedia): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etagOf(media))
}

/**
 * The requested byte range. Undefined means the whole file, also if several ranges or an invalid one are given: RFC
 * 9110 lets a server ignore those. 'unsatisfiable' means that the range lies outside the file.
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  media: StoredMedia,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const { range } = headers
  if (range === undefined || !isSameFile(headers['if-range'], media)) return undefined
  const ranges = parseRange(media.size, range)
  // The parser rejects a suffix longer than the file (the last 100 bytes of 10). Per RFC 9110 it means the whole file.
  const isLongSuffix = /^bytes=\s*-0*[1-9]\d*\s*$/.test(range) && media.size > 0
  if (ranges === -1) return /^bytes=/.test(range) && !isLongSuffix ? 'unsatisfiable' : undefined
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1 || range.includes(',')) return undefined
  return ranges[0]
}

/** Whether the client's part belongs to this file (`If-Range`: a tag or a date). */
function isSameFile(ifRange: string | string[] | undefined, media: StoredMedia): boolean {
  return ifRange === undefined || ifRange === etagOf(media) || ifRange === media.created_at.toUTCString()
}
