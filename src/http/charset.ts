import { Problem } from '../model/problem.js'

const CHARSET = /;\s*charset\s*=\s*["']?([^\s;"']+)/i
/** ASCII is UTF-8 as well. */
export const UTF_8 = /^(utf-?8|us-ascii|ascii)$/i

/**
 * Refuses a content type that names another charset than UTF-8. `what`: is to be sent in UTF-8 instead. Throws
 * unsupported_media_type.
 */
export function requireUtf8(contentType: string | undefined, what: string): void {
  requireCharset(contentType, what, UTF_8)
}

/** As requireUtf8, for a body that is read in the `accepted` charsets. */
export function requireCharset(contentType: string | undefined, what: string, accepted: RegExp): void {
  const charset = charsetOf(contentType)
  if (charset === null || accepted.test(charset)) return
  throw new Problem('unsupported_media_type', `The charset "${charset}" is not supported: send ${what} as UTF-8`)
}

/** The charset that a content type names; null if it names none. */
function charsetOf(contentType = ''): string | null {
  return CHARSET.exec(contentType)?.[1] ?? null
}
