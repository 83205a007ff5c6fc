import { isUuid } from '../lib/bytes/id.js'

/** One SQL statement with the name under which PostgreSQL prepares it once per connection. */
export interface Statement<Row> {
  readonly name: string
  readonly text: string
  /** Whether it can insert events, which readers wait for. */
  readonly raisesEvents: boolean
  /** Only carries the type of a row; never set. */
  readonly row?: Row
}

const INTO_EVENTS = /\bINSERT INTO events\b/
const statements = new Map<string, Statement<unknown>>()

/**
 * Declares a statement. Declared at module level, so that the check of all statements against the migrated schema finds it.
 * Throws when two statements share a name: PostgreSQL would run the wrong one.
 */
export function statement<Row>(name: string, text: string): Statement<Row> {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const declared: Statement<Row> = { name, text, raisesEvents: INTO_EVENTS.test(text) }
  statements.set(name, declared)
  return declared
}

/** Every statement declared by the modules loaded so far. */
export function declaredStatements(): Statement<unknown>[] {
  return [...statements.values()]
}

const NAMED_ORGANIZATION = /"organization_id":"([0-9a-f-]{36})"/g

/**
 * The organizations that a statement was run for, told by its first value: the id of one, or of a statement that many share the
 * JSON text of items that name theirs. Null where that tells none. Not exact: what an item holds may look like a name as well.
 */
export function organizationsOf([first]: readonly unknown[]): string[] | null {
  if (typeof first !== 'string') return null
  if (isUuid(first)) return [first]
  const ids = new Set(Array.from(first.matchAll(NAMED_ORGANIZATION), ([, id]) => id as string))
  return ids.size > 0 ? [...ids] : null
}

/**
 * An array parameter whose length the planner does not see. Where it sees it, a plan made for this very call looks cheaper
 * than the general one, and PostgreSQL plans anew every time: three times the cost of a look-up.
 */
export function opaqueArray(parameter: `$${number}`, type: 'text' | 'uuid' | 'integer' | 'bigint'): string {
  return `(SELECT ${parameter}::${type}[])::${type}[]`
}

/**
 * The condition that a row belongs to this organization, in a look-up that gives all columns of an index. For a table without statistics
 * PostgreSQL expects one row of each organization. Every index that begins with the organization then seems as good as the one meant,
 * and the wrong one reads all rows of the organization. With the id given twice PostgreSQL expects two rows, and prefers the index of
 * which all columns are given. `id`: SQL of type uuid.
 */
export function ofOrganization(column: string, id: string): string {
  return `${column} = ANY (ARRAY[${id}, ${id}])`
}

/**
 * Cuts nothing. It makes the planner expect a few rows of a recordset ($1) where it would expect a hundred, so that it goes by
 * the indexes and not through whole tables.
 */
export const FEW = 'LIMIT (SELECT json_array_length($1))'

/** The same where the number of rows is not known. */
export const FEW_ROWS = 'LIMIT (SELECT 9223372036854775807)'
