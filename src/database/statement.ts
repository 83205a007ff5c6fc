/** One SQL statement with the name under which PostgreSQL prepares it once per connection. */
export interface Statement<Row> {
  readonly name: string
  readonly text: string
  /** Declares the side effect of a statement; null: it has none. */
  readonly raises: null
  /** Only carries the type of a row; never set. */
  readonly row?: Row
}

/** A statement that can insert events, which readers wait for. */
export interface EventStatement<Row> extends Omit<Statement<Row>, 'raises'> {
  readonly raises: 'events'
}

/** Either kind. */
export type AnyStatement<Row> = Statement<Row> | EventStatement<Row>

const statements = new Map<string, AnyStatement<unknown>>()

/**
 * Declares a statement. Declare it at module level, so that the test of all statements against the migrated schema finds it.
 * Throws if two statements share a name: PostgreSQL would run the wrong one.
 */
export function statement<Row>(name: string, text: string): Statement<Row>
export function statement<Row>(name: string, text: string, effect: { raises: 'events' }): EventStatement<Row>
export function statement(
  name: string,
  text: string,
  effect: Pick<AnyStatement<unknown>, 'raises'> = { raises: null },
) {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const declared = { name, text, ...effect } as AnyStatement<unknown>
  statements.set(name, declared)
  return declared
}

/** The organizations that the items of a shared statement belong to, each once. */
export function organizationsOf(items: readonly { organizationId: string }[]): string[] {
  return [...new Set(items.map(({ organizationId }) => organizationId))]
}

/** Every statement declared by the modules loaded so far. */
export function declaredStatements(): AnyStatement<unknown>[] {
  return [...statements.values()]
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
