import { Problem } from '../model/problem.js'

const CHARSET = /;\s*charset\s*=\s*["']?([^\s;"']+)/i
/** ASCII is UTF-8 as well. */
const UTF_8 = /^(utf-?8|us-ascii|ascii)$/i

/**
 * Refuses a content type that names another charset than UTF-8. `what`: is to be sent in UTF-8 instead. Throws
 * unsupported_media_type.
 */
export function requireUtf8(contentType: string | undefined, what: string): void {
  const charset = charsetOf(contentType)
  if (charset === null || UTF_8.test(charset)) return
  throw new Problem('unsupported_media_type', `The charset "${charset}" is not supported: send ${what} as UTF-8`)
}

/** The charset that a content type names; null if it names none. */
function charsetOf(contentType = ''): string | null {
  return CHARSET.exec(contentType)?.[1] ?? null
}
