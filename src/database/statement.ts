/** One SQL statement with the name under which PostgreSQL prepares it once per connection. */
export interface Statement<Row, Raises extends 'events' | null = null> {
  readonly name: string
  readonly text: string
  /** Declares the side effect of a statement; null: it has none. */
  readonly raises: Raises
  /** Whether it may take so long that an organization runs one such statement at a time; not in transactions. */
  readonly isHeavy: boolean
  /** Whether it belongs to several organizations or none; else its first value is the id of its organization. */
  readonly isShared: boolean
  /** Only carries the type of a row; never set. */
  readonly row?: Row
}

/** A statement that can insert events, which readers wait for. */
export type EventStatement<Row> = Statement<Row, 'events'>

/** Either kind. */
export type AnyStatement<Row> = Statement<Row, 'events' | null>

const statements = new Map<string, AnyStatement<unknown>>()

/** What a statement is besides its text; see Statement. */
type Kind = { isHeavy: boolean }
type EventKind = { raises: 'events'; isHeavy?: boolean }

/**
 * Declares a statement of one organization, whose id is `$1`. Declare it at module level, so that the tests of all
 * statements find it. Throws if two statements share a name: PostgreSQL would run the wrong one.
 */
export function statement<Row>(name: string, text: string, kind?: Kind): Statement<Row>
export function statement<Row>(name: string, text: string, kind: EventKind): EventStatement<Row>
export function statement(name: string, text: string, kind: Partial<EventKind> = {}): AnyStatement<unknown> {
  return declare(name, text, kind, false)
}

/** Declares a statement of several organizations or none, likewise. */
export function sharedStatement<Row>(name: string, text: string, kind?: Kind): Statement<Row>
export function sharedStatement<Row>(name: string, text: string, kind: EventKind): EventStatement<Row>
export function sharedStatement(name: string, text: string, kind: Partial<EventKind> = {}): AnyStatement<unknown> {
  return declare(name, text, kind, true)
}

function declare(
  name: string,
  text: string,
  { raises = null, isHeavy = false }: { raises?: 'events' | null; isHeavy?: boolean },
  isShared: boolean,
): AnyStatement<unknown> {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const declared = { name, text, raises, isHeavy, isShared }
  statements.set(name, declared)
  return declared
}

/** The organization of a statement with these values; null: it is shared. Throws if the values do not begin with one. */
export function organizationOf({ name, isShared }: AnyStatement<unknown>, [first]: readonly unknown[]): string | null {
  if (isShared) return null
  if (typeof first !== 'string') throw new Error(`${name}: its first value is not the id of an organization`)
  return first
}

/** The organizations that the items of a batch belong to, each once. */
export function organizationsOf(items: readonly { organizationId: string }[]): string[] {
  return [...new Set(items.map(({ organizationId }) => organizationId))]
}

/** Every statement declared by the modules loaded so far. */
export function declaredStatements(): AnyStatement<unknown>[] {
  return [...statements.values()]
}

/**
 * The condition that a row belongs to this organization, for look-ups by all columns of an index. For a table without
 * statistics, or of many small organizations, PostgreSQL expects one row per organization; then every index that begins
 * with the organization looks equally good, and a wrong one reads all its rows. With the id given twice it expects two
 * rows and prefers the index with all columns given. `id`: SQL of type uuid.
 */
export function ofOrganization(column: string, id: string): string {
  return `${column} = ANY (ARRAY[${id}, ${id}])`
}

/**
 * Removes no rows. It makes the planner expect a few rows of a recordset ($1) instead of a hundred, so that it uses
 * indexes instead of full scans.
 */
export const FEW = 'LIMIT (SELECT json_array_length($1))'

/** The same for an unknown number of rows. */
export const FEW_ROWS = 'LIMIT (SELECT 9223372036854775807)'
