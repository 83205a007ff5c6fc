import { randomUUID } from 'node:crypto'
import { createSteps } from '../async/steps.js'
import { createByteList } from '../bytes/byte-list.js'
import { closingQuote, cutEscapeLength, unescapeText } from './json-string-bytes.js'

/** Receives the one string of a JSON text that is a file, unescaped and in pieces. */
export interface FileSink {
  write(text: Buffer): Promise<void>
}

export interface JsonFileOptions {
  /** The paths, such as `audioMessage.audio`, at which a long string is a file. */
  paths: ReadonlySet<string>
  /** Called at most once, when such a string grows long. */
  openFile: () => Promise<FileSink>
  /** Told how many bytes of the text are in memory, after each chunk. */
  onHeld: (bytes: number) => void
  /** Parses the text without the file. */
  parse: (text: Buffer) => Promise<unknown>
  /** The maximum size of the whole text. */
  maxBytes: number
}

/** The outcome of reading. */
export type JsonWithFile =
  /**
   * `value` is what `parse` made of the text. `marker` is the string in `value` that stands for the file; null if there
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
 * parsed. Holds only a few megabytes in memory. Throws the errors of sink, source, `onHeld` and `parse`.
 *
 * Of the streaming parsers, only stream-json passes on a string in parts. It takes 14 times the CPU for it, and 195 MiB
 * for 1 MiB of brackets (docs/decisions/own-readers.md).
 */
export async function readJsonWithFile(source: AsyncIterable<Buffer>, options: JsonFileOptions): Promise<JsonWithFile> {
  const reader = new FileSeparator(options)
  const step = createSteps()
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > options.maxBytes) return { outcome: 'too_big', of: 'all' }
    const malformed = await reader.take(chunk)
    if (malformed !== null) return { outcome: 'malformed', text: malformed }
    if (reader.restBytes() > MAX_REST_BYTES) return { outcome: 'too_big', of: 'rest' }
    options.onHeld(reader.restBytes())
    await step()
  }
  return reader.finish()
}

/** The path, such as `contacts[0].name`, of a dropped string; null if there is none. For values of checked depth. */
export function findDropped(value: unknown): string | null {
  const names = namesToDropped(value)
  if (names === null) return null
  return names.reduce<string>((path, name) => {
    if (typeof name === 'number') return `${path}[${name}]`
    return path === '' ? name : `${path}.${name}`
  }, '')
}

/** The keys and indexes that lead to a dropped string; only then, since there may be many values. */
function namesToDropped(value: unknown): (string | number)[] | null {
  if (value === DROPPED) return []
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const names = namesToDropped(value[index])
      if (names !== null) return [index, ...names]
    }
    return null
  }
  for (const [name, item] of Object.entries(value)) {
    const names = namesToDropped(item)
    if (names !== null) return [name, ...names]
  }
  return null
}

/** Separates the file from the rest of a JSON text. It checks only what the JSON parser does not see. */
class FileSeparator {
  readonly #options: JsonFileOptions
  readonly #place = createPlace()
  readonly #rest = createByteList()
  #inString = false
  /** The start of the string in the rest. */
  #start = 0
  #isDropped = false
  /** Gets the current string; null if it is not the file. */
  #sink: FileSink | null = null
  /** Stands for the file; null until there is one. */
  #marker: string | null = null
  /** An escape that the end of the last chunk cut. */
  #cutEscape: Buffer = EMPTY

  constructor(options: JsonFileOptions) {
    this.#options = options
  }

  restBytes(): number {
    return this.#rest.length()
  }

  /** Reads the next chunk; returns what is wrong with it, or null. */
  async take(chunk: Buffer): Promise<string | null> {
    const bytes = this.#cutEscape.length === 0 ? chunk : Buffer.concat([this.#cutEscape, chunk])
    this.#cutEscape = EMPTY
    let at = 0
    while (at < bytes.length) {
      if (!this.#inString) {
        at = this.#takeStructure(bytes, at)
        continue
      }
      const quote = closingQuote(bytes, at)
      const end = quote ?? bytes.length - cutEscapeLength(bytes, at)
      const written = bytes.subarray(at, end)
      const text = unescapeText(written)
      if (text === null) return 'a string holds a backslash that escapes nothing'
      if (this.#sink) await this.#sink.write(text)
      else this.#takeText(written)
      if (this.#isFile() && !(await this.#beginFile())) return 'a string holds a control character'
      if (quote !== null) this.#endString()
      else this.#cutEscape = bytes.subarray(end)
      at = quote === null ? bytes.length : quote + 1
    }
    return null
  }

  async finish(): Promise<JsonWithFile> {
    if (this.#inString) return { outcome: 'malformed', text: 'it ends within a string' }
    const value = await this.#options.parse(this.#rest.from(0))
    return { outcome: 'read', value, marker: this.#marker }
  }

  /** Reads up to the next string; returns its position. */
  #takeStructure(bytes: Buffer, from: number): number {
    const found = bytes.indexOf(QUOTE, from)
    const quote = found === -1 ? bytes.length : found
    for (let at = from; at < quote; at++) this.#place.note(bytes[at] as number)
    this.#rest.add(bytes.subarray(from, quote))
    if (quote === bytes.length) return quote
    this.#inString = true
    this.#start = this.#rest.length()
    this.#isDropped = false
    this.#rest.add(QUOTE_BYTE)
    return quote + 1
  }

  #takeText(written: Buffer): void {
    if (this.#isDropped) return
    this.#rest.add(written)
    if (this.#rest.length() - this.#start <= MAX_STRING_BYTES) return
    this.#isDropped = true
    this.#rest.cut(this.#start)
  }

  /** Whether the current string has just grown long enough to be the file. */
  #isFile(): boolean {
    if (this.#isDropped || this.#marker !== null) return false
    return this.#rest.length() - this.#start > FILE_FROM_BYTES && this.#options.paths.has(this.#place.path())
  }

  /** Gives the sink what has been read of the string; false if JSON does not allow it. */
  async #beginFile(): Promise<boolean> {
    const written = this.#rest.from(this.#start + QUOTE_BYTE.length)
    if (CONTROL_CHARACTER.test(written.toString('latin1'))) return false
    this.#marker = `file ${randomUUID()}`
    this.#sink = await this.#options.openFile()
    await this.#sink.write(Buffer.from(unescapeText(written) ?? EMPTY))
    this.#rest.cut(this.#start)
    return true
  }

  #endString(): void {
    this.#inString = false
    if (this.#sink) {
      this.#sink = null
      this.#rest.add(Buffer.from(JSON.stringify(this.#marker)))
    } else if (this.#isDropped) this.#rest.add(this.#place.awaitsKey() ? DROPPED_KEY : DROPPED_WRITTEN)
    else {
      this.#rest.add(QUOTE_BYTE)
      const written = this.#rest.from(this.#start)
      if (this.#place.awaitsKey()) this.#place.enter(written.toString('latin1', 1, written.length - 1))
    }
  }
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

const EMPTY = Buffer.alloc(0)
const QUOTE = 0x22
const QUOTE_BYTE = Buffer.of(QUOTE)
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COLON = 0x3a
const COMMA = 0x2c
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not allow them in strings.
const CONTROL_CHARACTER = /[\0-\x1f]/
