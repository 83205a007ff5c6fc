/**
 * The position of the quote that ends a JSON string; null if it is not among these bytes. `from` lies in the string,
 * not in an escape.
 */
export function closingQuote(bytes: Buffer, from: number): number | null {
  let quote = bytes.indexOf(QUOTE, from)
  while (quote !== -1 && isEscaped(bytes, from, quote)) quote = bytes.indexOf(QUOTE, quote + 1)
  return quote === -1 ? null : quote
}

/** How many of the last bytes belong to an escape that the end cuts. */
export function cutEscapeLength(bytes: Buffer, from: number): number {
  const tail = Math.max(from, bytes.length - UNICODE_ESCAPE_LENGTH + 1)
  const found = bytes.subarray(tail).lastIndexOf(BACKSLASH)
  const backslash = tail + found
  if (found === -1 || isEscaped(bytes, from, backslash)) return 0
  return backslash + escapeLength(bytes, backslash) > bytes.length ? bytes.length - backslash : 0
}

/** The meaning, in UTF-8, of a part that cuts no escape; null if it holds an escape that JSON does not have. */
export function unescapeText(written: Buffer): Buffer | null {
  if (!written.includes(BACKSLASH)) return written
  const text = Buffer.allocUnsafe(written.length)
  let length = 0
  for (let at = 0; at < written.length; at++) {
    const byte = written[at] as number
    if (byte !== BACKSLASH) {
      text[length++] = byte
      continue
    }
    const meaning = meaningOf(written, at)
    if (Number.isNaN(meaning)) return null
    at += escapeLength(written, at) - 1
    if (meaning < 0x80) text[length++] = meaning
    else length += text.write(String.fromCharCode(meaning), length)
  }
  return text.subarray(0, length)
}

/** Whether an odd number of backslashes stands before a position. */
function isEscaped(bytes: Buffer, from: number, position: number): boolean {
  let at = position
  while (at > from && bytes[at - 1] === BACKSLASH) at--
  return (position - at) % 2 === 1
}

function escapeLength(bytes: Buffer, backslash: number): number {
  return bytes[backslash + 1] === LETTER_U ? UNICODE_ESCAPE_LENGTH : 2
}

/** The code of the character that an escape stands for; NaN if JSON does not have it. */
function meaningOf(written: Buffer, backslash: number): number {
  const letter = written[backslash + 1]
  if (letter !== LETTER_U) return SIMPLE_ESCAPES.get(letter) ?? Number.NaN
  let code = 0
  for (let at = backslash + 2; at < backslash + UNICODE_ESCAPE_LENGTH; at++) code = 16 * code + hexDigit(written[at])
  return code
}

function hexDigit(byte: number = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : Number.NaN
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
/** Such as `\u00e9`. */
const UNICODE_ESCAPE_LENGTH = 6

/** By the character after the backslash. */
const SIMPLE_ESCAPES = new Map<number | undefined, number>(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meaning]) => [letter.charCodeAt(0), meaning.charCodeAt(0)],
  ),
)
