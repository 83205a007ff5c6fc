import { createHash } from 'node:crypto'
import { createSteps } from '../async/steps.js'
import type { JsonObject } from './json.js'
import { isStorable } from './text.js'

/** Limits of a JSON text, so that what reads its value afterwards takes bounded time. */
export interface JsonLimits {
  /** Maximum nesting of objects and lists; each level takes memory. */
  maxDepth: number
  /** Maximum number of fields of one object. */
  maxFields: number
  /** Maximum length of a string with escapes, as it is written: it is read in one step. */
  maxEscaped: number
}

/** The outcome of reading a JSON text. */
export type JsonRead =
  /** `depth`: how deep containers nest, 0 = not at all. `isStorable`: of all keys and strings (lib/text/text). */
  | { outcome: 'read'; value: unknown; depth: number; isStorable: boolean }
  | { outcome: 'malformed'; text: string }
  | { outcome: 'too_large'; limit: keyof JsonLimits }

/** How many values are read between two looks at the clock. */
const VALUES_PER_LOOK = 500
/** How much canonical JSON is hashed at once. */
const HASHED_LENGTH = 65_536

const WHITE_SPACE = /[ \t\n\r]*/y
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not allow them in strings.
const ESCAPE_OR_CONTROL = /[\\\0-\x1f]/

/** A container that is being read; `key`: of the field whose value comes next. */
type Open = { list: unknown[]; object: null } | { list: null; object: JsonObject; key: string; fields: number }

/**
 * Parses a large JSON text as JSON.parse does, in steps, between which other requests are handled. JSON.parse takes
 * a quarter of a second for some texts of 4 MiB. Why no library: docs/decisions/own-readers.md.
 */
export async function parseJsonInSteps(text: string, limits: JsonLimits): Promise<JsonRead> {
  const step = createSteps()
  const reader = new JsonReader(text, limits)
  try {
    while (!reader.readSome(VALUES_PER_LOOK)) await step()
    return { outcome: 'read', value: reader.value, depth: reader.depth, isStorable: reader.isStorable }
  } catch (error) {
    if (error instanceof Malformed) return { outcome: 'malformed', text: error.message }
    if (error instanceof TooLarge) return { outcome: 'too_large', limit: error.limit }
    throw error
  }
}

/** The SHA-256 of the canonical JSON (lib/text/json) of a large value, in steps. */
export async function hashInSteps(value: unknown): Promise<Buffer> {
  const hash = createHash('sha256')
  const step = createSteps()
  let text = ''
  let values = 0
  for (const part of canonicalParts(value)) {
    text += part
    if (text.length >= HASHED_LENGTH) {
      hash.update(text)
      text = ''
    }
    if (++values % VALUES_PER_LOOK === 0) await step()
  }
  return hash.update(text).digest()
}

/** A container that is being written, with the keys of an object. */
type Written = { index: number } & (
  | { keys: null; container: readonly unknown[] }
  | { keys: readonly string[]; container: JsonObject }
)

/** The parts of canonical JSON, one for each value. */
function* canonicalParts(value: unknown): Generator<string> {
  const stack: Written[] = []
  const begin = (item: unknown): string => {
    if (typeof item !== 'object' || item === null) return JSON.stringify(item)
    if (Array.isArray(item)) {
      stack.push({ keys: null, container: item, index: 0 })
      return '['
    }
    stack.push({ keys: Object.keys(item).sort(), container: item as JsonObject, index: 0 })
    return '{'
  }
  yield begin(value)
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const index = top.index++
    const comma = index === 0 ? '' : ','
    if (index === (top.keys ?? top.container).length) {
      stack.pop()
      yield top.keys === null ? ']' : '}'
    } else if (top.keys === null) {
      yield comma + begin(top.container[index])
    } else {
      const key = top.keys[index] as string
      yield `${comma}${JSON.stringify(key)}:${begin(top.container[key])}`
    }
  }
}

class Malformed extends Error {}

class TooLarge extends Error {
  readonly limit: keyof JsonLimits

  constructor(limit: keyof JsonLimits) {
    super(limit)
    this.limit = limit
  }
}

/** Reads a JSON text some values at a time. */
class JsonReader {
  value: unknown
  depth = 0
  isStorable = true
  readonly #text: string
  readonly #limits: JsonLimits
  readonly #open: Open[] = []
  #at = 0

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  /** Reads some values; true at the end of the text. Throws Malformed, TooLarge. */
  readSome(count: number): boolean {
    for (let read = 0; read < count; read++) {
      if (this.#readValue() && this.#closeContainers()) return true
    }
    return false
  }

  /** Reads the start of the next value; true if it is complete. */
  #readValue(): boolean {
    this.#skipSpace()
    const { [this.#at]: character } = this.#text
    if (character === '{' || character === '[') return this.#openContainer(character)
    this.#add(character === '"' ? this.#readString() : this.#readLiteral())
    return true
  }

  /** True if the container is empty, and so complete. */
  #openContainer(character: '{' | '['): boolean {
    if (this.#open.length === this.#limits.maxDepth) throw new TooLarge('maxDepth')
    this.depth = Math.max(this.depth, this.#open.length)
    this.#at++
    const container: Open =
      character === '[' ? { list: [], object: null } : { list: null, object: {}, key: '', fields: 0 }
    this.#add(container.list ?? container.object)
    this.#skipSpace()
    if (this.#text[this.#at] === (character === '[' ? ']' : '}')) {
      this.#at++
      return true
    }
    this.#open.push(container)
    if (container.object) this.#readKey(container)
    return false
  }

  /** Reads what follows a complete value, up to the next one; true at the end of the text. */
  #closeContainers(): boolean {
    for (;;) {
      this.#skipSpace()
      const container = this.#open.at(-1)
      if (container === undefined) {
        if (this.#at === this.#text.length) return true
        throw this.#unexpected()
      }
      const { [this.#at]: character } = this.#text
      if (character === ',') {
        this.#at++
        if (container.object) this.#readKey(container)
        return false
      }
      if (character !== (container.list ? ']' : '}')) throw this.#unexpected()
      this.#at++
      this.#open.pop()
    }
  }

  #readKey(container: Open & { object: JsonObject }): void {
    if (++container.fields > this.#limits.maxFields) throw new TooLarge('maxFields')
    this.#skipSpace()
    if (this.#text[this.#at] !== '"') throw this.#unexpected()
    container.key = this.#readString()
    this.#skipSpace()
    if (this.#text[this.#at] !== ':') throw this.#unexpected()
    this.#at++
  }

  #add(value: unknown): void {
    const container = this.#open.at(-1)
    if (container === undefined) this.value = value
    else if (container.list) container.list.push(value)
    // Assignment would set the prototype.
    else if (container.key === '__proto__') Object.defineProperty(container.object, '__proto__', { ...OWN, value })
    else container.object[container.key] = value
  }

  #readString(): string {
    const start = this.#at
    let quote = this.#text.indexOf('"', start + 1)
    while (quote !== -1 && this.#isEscaped(quote)) quote = this.#text.indexOf('"', quote + 1)
    if (quote === -1) throw new Malformed('it ends within a string')
    this.#at = quote + 1
    const written = this.#text.slice(start, this.#at)
    const hasEscapes = ESCAPE_OR_CONTROL.test(written)
    if (hasEscapes && quote - start > this.#limits.maxEscaped) throw new TooLarge('maxEscaped')
    const text = hasEscapes ? this.#parse(written, start) : written.slice(1, -1)
    this.isStorable &&= isStorable(text)
    return text
  }

  /** An odd number of backslashes comes before it. */
  #isEscaped(quote: number): boolean {
    let before = quote
    while (this.#text[before - 1] === '\\') before--
    return (quote - before) % 2 === 1
  }

  #readLiteral(): unknown {
    const start = this.#at
    LITERAL.lastIndex = start
    if (!LITERAL.test(this.#text)) throw this.#unexpected()
    this.#at = LITERAL.lastIndex
    return JSON.parse(this.#text.slice(start, this.#at))
  }

  #parse(written: string, start: number): string {
    try {
      return JSON.parse(written)
    } catch {
      throw new Malformed(`the string at position ${start} holds a control character or a wrong escape`)
    }
  }

  #skipSpace(): void {
    WHITE_SPACE.lastIndex = this.#at
    WHITE_SPACE.test(this.#text)
    this.#at = WHITE_SPACE.lastIndex
  }

  #unexpected(): Malformed {
    const { [this.#at]: character } = this.#text
    if (character === undefined) return new Malformed('it ends too early')
    return new Malformed(`the character ${JSON.stringify(character)} at position ${this.#at} is not expected`)
  }
}

const OWN = { enumerable: true, configurable: true, writable: true }
