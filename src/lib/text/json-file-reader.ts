import { randomUUID } from 'node:crypto'
import { createByteList } from '../bytes/byte-list.js'

/** Takes the one string of a JSON text that is a file: unescaped, piece by piece. */
export interface FileSink {
  write(text: Buffer): Promise<void>
}

export interface JsonFileOptions {
  /** The paths, such as `audioMessage.audio`, at which a long string is a file. */
  paths: ReadonlySet<string>
  /** Asked at most once, when such a string grows long. */
  openFile: () => Promise<FileSink>
  /** The most bytes that the whole may have. */
  maxBytes: number
}

/** What became of reading. */
export type JsonWithFile =
  /** `value`: undefined of an empty text. `marker`: the string in it that stands for the file; null where there was none. */
  | { outcome: 'read'; value: unknown; marker: string | null }
  | { outcome: 'malformed'; text: string }
  /** `of`: the whole, or all but the file. */
  | { outcome: 'too_big'; of: 'all' | 'rest' }

/** Of a string at one of the paths: longer, in bytes as written, and it is a file. */
export const FILE_FROM_BYTES = 65_536
/** A string elsewhere that is longer is of no use to anybody: it is read and dropped. */
const MAX_STRING_BYTES = 800 * 1_024
/** How large everything but the file may be. */
export const MAX_REST_BYTES = 1_048_576
/** Deeper in no file is looked for. */
const MAX_PATH = 4

/** What stands for a dropped string; nobody outside knows it. */
const DROPPED = `dropped ${randomUUID()}`
const DROPPED_WRITTEN = Buffer.from(JSON.stringify(DROPPED))
const DROPPED_KEY = Buffer.from('""')

/**
 * Reads a JSON text of which one string may be a large file: that one goes to a sink as it comes, the rest is kept and parsed.
 * Holds no more than a few megabytes, whatever comes. Throws what the sink and the source throw.
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

/** The path, such as `contacts[0].name`, of a string that was dropped; null where none was. For values whose depth has been checked. */
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

/** Goes through a JSON text and tells its strings from the rest. It checks only what the parser does not get to see. */
function createReader({ paths, openFile }: JsonFileOptions) {
  const rest = createByteList()
  const place = createPlace()
  let inString = false
  /** Where the string begins in `rest`. */
  let start = 0
  let isDropped = false
  /** An escape, as far as it has come. */
  let begun: number[] = []
  let sink: FileSink | null = null
  let marker = ''
  let inFile = false
  /** What the file has had since its sink was given some. */
  const text = createByteList()

  /** Takes the next piece; says what is wrong with it, or null. */
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

  /** Everything up to the next string; where that begins. */
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

/** Where in the text the reader is. */
function createPlace() {
  /** The containers around, outermost first, as deep as a path goes, with the key of each object under which it is. */
  const around: { isObject: boolean; key: string }[] = []
  let depth = 0
  let awaitsKey = false

  return {
    awaitsKey: () => awaitsKey,
    enter: (key: string) => {
      const innermost = around.at(-1)
      if (innermost) innermost.key = key
    },
    /** Such as `audioMessage.audio`; of a key, and of what no path leads to, the empty text. */
    path: () => {
      if (awaitsKey || depth !== around.length || around.some(({ isObject }) => !isObject)) return ''
      return around.map(({ key }) => key).join('.')
    },
    /** A byte outside of strings. */
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

/** Where a byte next stands, or the length where it does not. */
function indexOrEnd(bytes: Buffer, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from)
  return found === -1 ? bytes.length : found
}

function isWhole(begun: readonly number[]): boolean {
  return begun.length === (begun[1] === LETTER_U ? 6 : 2)
}

/** What an escape stands for; null of one that JSON does not have. */
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

/** By the character behind the backslash. */
const SIMPLE_ESCAPES = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meaning]) => [letter.charCodeAt(0), Buffer.from(meaning)],
  ),
)
