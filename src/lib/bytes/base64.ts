/** Encodes chunks as base64; the concatenated parts are the base64 of the whole. */
export async function* encodeBase64(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const whole = all.length - (all.length % 3)
    rest = all.subarray(whole)
    if (whole > 0) yield all.toString('base64', 0, whole)
  }
  if (rest.length > 0) yield rest.toString('base64')
}

/** Decodes base64 in pieces. */
export interface Base64Decoder {
  /** The bytes that are complete so far; null once the text is not base64. */
  write(text: Buffer): Buffer | null
  /** The last bytes; null if the text is not base64 or incomplete. */
  end(): Buffer | null
}

const SPACE = /[\t\n\f\r ]+/g
/** The standard alphabet and that of URLs. */
const DIGITS = /^[A-Za-z0-9+/_-]*$/
const PADDING = /^={0,2}$/
const DATA_URL = /^data:[^,]*;base64,/i
const DATA_SCHEME = 'data:'
/** Longer than the head of any data URL. */
const MAX_HEAD = 1_024

/**
 * Creates a decoder that accepts both alphabets, optional padding, white space, and a `data:` URL. Unlike Node's
 * decoder and base64-stream it rejects other characters, so that a mistyped address is not taken for a file.
 */
export function createBase64Decoder(): Base64Decoder {
  /** The start of the text, until it is known whether it is the head of a data URL. */
  let head: string | null = ''
  /** Characters that do not make up a group of four yet. */
  let rest = ''
  let padding = ''
  let isMalformed = false

  function write(text: Buffer): Buffer | null {
    if (head === null) return decode(text.toString('latin1'))
    head += text.toString('latin1').replace(SPACE, '')
    if (head.length < DATA_SCHEME.length && DATA_SCHEME.startsWith(head.toLowerCase())) return EMPTY
    if (!head.toLowerCase().startsWith(DATA_SCHEME)) return decode(takeHead(0))
    const found = DATA_URL.exec(head)
    if (found) return decode(takeHead(found[0].length))
    if (head.length > MAX_HEAD || head.includes(',')) isMalformed = true
    return isMalformed ? null : EMPTY
  }

  /** Returns the text after the head. */
  function takeHead(length: number): string {
    const behind = head?.slice(length) ?? ''
    head = null
    return behind
  }

  function decode(added: string): Buffer | null {
    return decodePlain(added) ?? decodeMixed(added.replace(SPACE, ''))
  }

  /**
   * Text of digits only, the common case: Node skips all other characters, so the length shows whether there were any.
   */
  function decodePlain(added: string): Buffer | null {
    if (isMalformed || padding !== '') return null
    const all = rest + added
    const whole = all.length - (all.length % 4)
    const bytes = Buffer.from(all.slice(0, whole), 'base64')
    const left = all.slice(whole)
    if (bytes.length !== (whole / 4) * 3 || !DIGITS.test(left)) return null
    rest = left
    return bytes
  }

  function decodeMixed(added: string): Buffer | null {
    const end = added.indexOf('=')
    const digits = end === -1 ? added : added.slice(0, end)
    const isAfterEnd = padding !== '' && digits !== ''
    if (end !== -1) padding += added.slice(end)
    if (isAfterEnd || !DIGITS.test(digits) || !PADDING.test(padding)) isMalformed = true
    if (isMalformed) return null
    const all = rest + digits
    const whole = all.length - (all.length % 4)
    rest = all.slice(whole)
    return Buffer.from(all.slice(0, whole), 'base64')
  }

  function end(): Buffer | null {
    // Too short to decide whether it is the head of a data URL.
    if (head !== null && head !== '') decode(takeHead(0))
    const isPaddedWrongly = padding !== '' && (rest.length + padding.length) % 4 !== 0
    if (isMalformed || rest.length === 1 || isPaddedWrongly) return null
    return Buffer.from(rest, 'base64')
  }

  return { write, end }
}

const EMPTY = Buffer.alloc(0)
