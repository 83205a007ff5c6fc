/** A requested field of a query. */
export interface Field {
  name: string
  args: Record<string, unknown>
  /** Its subfields; null without braces. */
  fields: Field[] | null
}

/** An error for the `errors` of a response. */
export class GraphqlError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const token = /"(?:[^"\\\n]|\\.)*"|\$?[A-Za-z_]\w*|-?\d+(?:\.\d+)?|[{}():!=]|(?<space>[\s,]+|#[^\n]*)/y
const word = /^[A-Za-z_]/
const constants: Record<string, unknown> = { true: true, false: false, null: null }

/**
 * Returns the fields of the document's single query, with its variables filled in. Only the parts of GraphQL needed to
 * request orders are supported: no aliases, fragments or lists. Throws a GraphqlError.
 */
export function parseQuery(text: string, variables: Record<string, unknown>): Field[] {
  const reader = new Reader(tokensOf(text), variables)
  return reader.query()
}

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  token.lastIndex = 0
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const match = token.exec(text)
    if (!match) throw unexpected(text.slice(at, at + 10))
    if (match.groups?.space === undefined) tokens.push(match[0])
  }
  return tokens
}

class Reader {
  readonly #tokens: string[]
  readonly #variables: Record<string, unknown>
  #at = 0

  constructor(tokens: string[], variables: Record<string, unknown>) {
    this.#tokens = tokens
    this.#variables = variables
  }

  /** Skips the name and the declared variables of the query. */
  query(): Field[] {
    const start = this.#tokens.indexOf('{')
    if (start === -1 || (start > 0 && this.#tokens[0] !== 'query')) throw unexpected(this.#tokens[0])
    this.#at = start
    const fields = this.#fields()
    if (this.#at < this.#tokens.length) throw unexpected(this.#tokens[this.#at])
    return fields
  }

  #fields(): Field[] {
    const fields: Field[] = []
    this.#take('{')
    while (!this.#takeIf('}')) fields.push(this.#field())
    return fields
  }

  #field(): Field {
    const name = this.#takeWord()
    const args = this.#takeIf('(') ? this.#args() : {}
    return { name, args, fields: this.#tokens[this.#at] === '{' ? this.#fields() : null }
  }

  #args(): Record<string, unknown> {
    const args: Record<string, unknown> = {}
    while (!this.#takeIf(')')) {
      const name = this.#takeWord()
      this.#take(':')
      args[name] = this.#value()
    }
    return args
  }

  /** A word that is not a constant is an enum value. */
  #value(): unknown {
    const taken = this.#takeAny()
    if (taken.startsWith('$')) return this.#variables[taken.slice(1)]
    if (taken.startsWith('"')) return JSON.parse(taken)
    if (word.test(taken)) return Object.hasOwn(constants, taken) ? constants[taken] : taken
    if (!/^-?\d/.test(taken)) throw unexpected(taken)
    return Number(taken)
  }

  #takeWord(): string {
    const taken = this.#takeAny()
    if (!word.test(taken)) throw unexpected(taken)
    return taken
  }

  #take(expected: string): void {
    if (!this.#takeIf(expected)) throw unexpected(this.#tokens[this.#at])
  }

  #takeIf(expected: string): boolean {
    if (this.#tokens[this.#at] !== expected) return false
    this.#at += 1
    return true
  }

  #takeAny(): string {
    const taken = this.#tokens[this.#at]
    if (taken === undefined) throw unexpected(taken)
    this.#at += 1
    return taken
  }
}

function unexpected(found: string | undefined): GraphqlError {
  return new GraphqlError(
    'parseError',
    `Unexpected ${found ?? 'end of the query'}, as far as this simulator reads queries`,
  )
}
