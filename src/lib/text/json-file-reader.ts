import { randomUUID } from 'node:crypto'
import { createByteList } from '../bytes/byte-list.js'

/** Receives the one string of a JSON text that is a file, unescaped and in pieces. */
export interface FileSink {
  write(text: Buffer): Promise<void>
}

export interface JsonFileOptions {
  /** The paths, such as `audioMessage.audio`, at which a long string is a file. */
  paths: ReadonlySet<string>
  /** Called at most once, when such a string grows long. */
  openFile: () => Promise<FileSink>
  /** The maximum size of the whole text. */
  maxBytes: number
}

/** The outcome of reading. */
export type JsonWithFile =
  /**
   * `value` is undefined for an empty text. `marker` is the string in `value` that stands for the file; null if there
   * was none.
   */
  | { outcome: 'read'; value: unknown; marker: string | null }
  | { outcome: 'malformed'; text: string }
  /** `of`: the whole text, or everything except the file. */
  | { outcome: 'too_big'; of: 'all' | 'rest' }

/** A string at one of the paths that is longer than this (in bytes as written) is a file. */
export const FILE_FROM_BYTES = 65_536
/** Longer strings elsewhere are read and dropped. */
const MAX_STRING_BYTES = 800 * 1_024
/** The maximum size of everything except the file. */
export const MAX_REST_BYTES = 1_048_576
/** Files are not looked for at deeper levels. */
const MAX_PATH = 4

/** Stands for a dropped string; random, so that no client can send it. */
const DROPPED = `dropped ${randomUUID()}`
const DROPPED_WRITTEN = Buffer.from(JSON.stringify(DROPPED))
const DROPPED_KEY = Buffer.from('""')

/**
 * Reads a JSON text in which one string may be a large file. That string goes to a sink as it arrives, the rest is
 * parsed. Holds only a few megabytes in memory. Throws the errors of sink and source.
 */
export async function readJsonWithFile(source: AsyncIterable<Buffer>, options: JsonFileOptions): Promise<JsonWithFile> {
  const reader = createReader(options)
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > options.maxBytes) return { outcome: 'too_big', of: 'all' }
    const malformed = await reader.take(chunk)
    if (malformed !== null) return { outcome: 'malformed', text: malformed }
    if (reader.restBytes() > MAX_REST_BYTES) return { outcome: 'too_big', of: 'rest' }
  }
  return reader.finish()
}

/** The path, such as `contacts[0].name`, of a dropped string; null if there is none. For values of checked depth. */
export function findDropped(value: unknown, path = ''): string | null {
  if (value === DROPPED) return path
  if (typeof value !== 'object' || value === null) return null
  for (const [key, item] of Object.entries(value)) {
    const name = path === '' ? key : `${path}.${key}`
    const found = findDropped(item, Array.isArray(value) ? `${path}[${key}]` : name)
    if (found !== null) return found
  }
  return null
}

/** Finds the strings of a JSON text. It checks only what the JSON parser does not see. */
function createReader({ paths, openFile }: JsonFileOptions) {
  const rest = createByteList()
  const place = createPlace()
  let inString = false
  /** The start of the string in `rest`. */
  let start = 0
  let isDropped = false
  /** The bytes of an incomplete escape. */
  let begun: number[] = []
  let sink: FileSink | null = null
  let marker = ''
  let inFile = false
  /** Bytes of the file that the sink has not got yet. */
  const text = createByteList()

  /** Reads the next chunk; returns what is wrong with it, or null. */
  async function take(chunk: Buffer): Promise<string | null> {
    let quote = -1
    let at = 0
    while (at < chunk.length) {
      if (!inString) at = takeStructure(chunk, at)
      else if (begun.length > 0) {
        at = fillEscape(chunk, at)
        if (isWhole(begun) && !takeEscape()) return 'a string holds a backslash that escapes nothing'
      } else {
        if (quote < at) quote = indexOrEnd(chunk, QUOTE, at)
        const end = Math.min(quote, at + indexOrEnd(chunk.subarray(at, quote), BACKSLASH, 0))
        takeText(chunk.subarray(at, end))
        if (isFile()) await beginFile()
        if (end === quote && quote < chunk.length) endString()
        else if (end < chunk.length) begun.push(BACKSLASH)
        at = end + 1
      }
    }
    if (sink !== null && text.length() > 0) {
      await sink.write(text.from(0))
      text.cut(0)
    }
    return null
  }

  /** Reads up to the next string; returns its position. */
  function takeStructure(chunk: Buffer, from: number): number {
    const quote = indexOrEnd(chunk, QUOTE, from)
    for (let at = from; at < quote; at++) place.note(chunk[at] as number)
    rest.add(chunk.subarray(from, quote))
    if (quote === chunk.length) return quote
    inString = true
    start = rest.length()
    isDropped = false
    rest.add(QUOTE_BYTE)
    return quote + 1
  }

  function fillEscape(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length && !isWhole(begun)) begun.push(chunk[at++] as number)
    return at
  }

  function takeEscape(): boolean {
    const written = Buffer.from(begun)
    begun = []
    const meaning = meaningOf(written)
    if (meaning === null) return false
    if (inFile) text.add(meaning)
    else takeText(written)
    return true
  }

  function takeText(written: Buffer): void {
    if (isDropped) return
    const taker = inFile ? text : rest
    taker.add(written)
    if (inFile || rest.length() - start <= MAX_STRING_BYTES) return
    isDropped = true
    rest.cut(start)
  }

  function isFile(): boolean {
    return !isDropped && sink === null && rest.length() - start > FILE_FROM_BYTES && paths.has(place.path())
  }

  async function beginFile(): Promise<void> {
    sink = await openFile()
    marker = `file ${randomUUID()}`
    inFile = true
    text.add(Buffer.from(JSON.parse(`${rest.from(start).toString('latin1')}"`) as string))
    rest.cut(start)
  }

  function endString(): void {
    inString = false
    if (inFile) {
      inFile = false
      rest.add(Buffer.from(JSON.stringify(marker)))
    } else if (isDropped) rest.add(place.awaitsKey() ? DROPPED_KEY : DROPPED_WRITTEN)
    else {
      rest.add(QUOTE_BYTE)
      const written = rest.from(start)
      if (place.awaitsKey()) place.enter(written.toString('latin1', 1, written.length - 1))
    }
  }

  function finish(): JsonWithFile {
    if (inString) return { outcome: 'malformed', text: 'it ends within a string' }
    const text = rest.from(0).toString()
    try {
      const value: unknown = text === '' ? undefined : JSON.parse(text)
      return { outcome: 'read', value, marker: sink === null ? null : marker }
    } catch (error) {
      return { outcome: 'malformed', text: (error as Error).message }
    }
  }

  return { take, finish, restBytes: rest.length }
}

/** Tracks the reader's position in the text. */
function createPlace() {
  /** The enclosing containers, outermost first, as deep as a path goes, with the current key of each object. */
  const around: { isObject: boolean; key: string }[] = []
  let depth = 0
  let awaitsKey = false

  return {
    awaitsKey: () => awaitsKey,
    enter: (key: string) => {
      const innermost = around.at(-1)
      if (innermost) innermost.key = key
    },
    /** Such as `audioMessage.audio`; empty for keys and for places that no path describes. */
    path: () => {
      if (awaitsKey || depth !== around.length || around.some(({ isObject }) => !isObject)) return ''
      return around.map(({ key }) => key).join('.')
    },
    /** A byte outside strings. */
    note: (byte: number) => {
      switch (byte) {
        case OPEN_BRACE:
        case OPEN_BRACKET:
          if (depth++ < MAX_PATH) around.push({ isObject: byte === OPEN_BRACE, key: '' })
          awaitsKey = byte === OPEN_BRACE && depth <= MAX_PATH
          break
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          if (depth-- <= MAX_PATH) around.pop()
          awaitsKey = false
          break
        case COMMA:
          awaitsKey = depth <= MAX_PATH && around.at(-1)?.isObject === true
          break
        case COLON:
          awaitsKey = false
      }
    },
  }
}

/** The next position of a byte, or the length if there is none. */
function indexOrEnd(bytes: Buffer, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from)
  return found === -1 ? bytes.length : found
}

function isWhole(begun: readonly number[]): boolean {
  return begun.length === (begun[1] === LETTER_U ? 6 : 2)
}

/** The meaning of an escape; null if JSON does not have it. */
function meaningOf(written: Buffer): Buffer | null {
  const simple = SIMPLE_ESCAPES.get(written[1] as number)
  if (simple !== undefined) return simple
  const code = /^\\u([0-9a-f]{4})$/i.exec(written.toString('latin1'))?.[1]
  return code === undefined ? null : Buffer.from(String.fromCharCode(Number.parseInt(code, 16)))
}

const QUOTE = 0x22
const QUOTE_BYTE = Buffer.of(QUOTE)
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COLON = 0x3a
const COMMA = 0x2c
const LETTER_U = 0x75

/** By the character after the backslash. */
const SIMPLE_ESCAPES = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meaning]) => [letter.charCodeAt(0), Buffer.from(meaning)],
  ),
)
