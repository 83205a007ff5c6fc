/** One SQL statement with the name under which PostgreSQL prepares it once per connection. */
export interface Statement<Row, Raises extends Raised | null = null> {
  readonly name: string
  readonly text: string
  /** What it can insert that others wait for; null: nothing. */
  readonly raises: Raises
  /** When the workers look for the jobs that it enqueues; null: it enqueues none. */
  readonly enqueues: Enqueues<never> | null
  /** Whether it may take so long that an organization runs one such statement at a time; not in transactions. */
  readonly isHeavy: boolean
  /** Whether it belongs to several organizations or none; else its first value is the id of its organization. */
  readonly isShared: boolean
  /** Only carries the type of a row; never set. */
  readonly row?: Row
}

/** What organizations get that others wait for: events, which are read, or callbacks, which are processed. */
export type Raised = 'events' | 'callbacks'

/**
 * When the workers look for jobs: `now`, after the commit, or if the function is true for one of its rows; `later`, with
 * the next poll.
 */
export type Enqueues<Row> = 'now' | 'later' | ((row: Row) => boolean)

/** A statement that can insert what others wait for. */
export type RaisingStatement<Row> = Statement<Row, Raised>

/** Either kind. */
export type AnyStatement<Row> = Statement<Row, Raised | null>

/** The properties of a statement that is declared; as in Statement. */
interface Properties<Row> {
  enqueues?: Enqueues<Row>
  isHeavy?: boolean
}

type AnyProperties = Properties<never> & { raises?: Raised }

const statements = new Map<string, AnyStatement<unknown>>()

/**
 * Declares a statement of one organization, whose id is `$1`. Declare it at module level, so that the tests of all
 * statements find it. Throws if two statements share a name: PostgreSQL would run the wrong one.
 */
export function statement<Row>(name: string, text: string, properties?: Properties<Row>): Statement<Row>
export function statement<Row>(
  name: string,
  text: string,
  properties: Properties<Row> & { raises: Raised },
): RaisingStatement<Row>
export function statement(name: string, text: string, properties: AnyProperties = {}): AnyStatement<unknown> {
  return declare(name, text, properties, false)
}

/** Declares a statement of several organizations or none, likewise. */
export function sharedStatement<Row>(name: string, text: string, properties?: Properties<Row>): Statement<Row>
export function sharedStatement<Row>(
  name: string,
  text: string,
  properties: Properties<Row> & { raises: Raised },
): RaisingStatement<Row>
export function sharedStatement(name: string, text: string, properties: AnyProperties = {}): AnyStatement<unknown> {
  return declare(name, text, properties, true)
}

function declare(
  name: string,
  text: string,
  { raises, enqueues, isHeavy = false }: AnyProperties,
  isShared: boolean,
): AnyStatement<unknown> {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const declared = { name, text, raises: raises ?? null, enqueues: enqueues ?? null, isHeavy, isShared }
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
 * The places of the rows of this organization ($1) with these ids, for `ctid = ANY (…)`. Each row is found by its key,
 * while for `id = ANY (…)` any index that begins with the organization can look cheaper. The rows are locked, so no
 * place changes. `ids`: SQL of type uuid[].
 */
export function placesOf(table: string, ids: string): string {
  return `ARRAY(
       SELECT found.place FROM unnest(${ids}) AS given (id) CROSS JOIN LATERAL (
         SELECT ctid AS place FROM ${table} WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = given.id OFFSET 0
       ) found
     )`
}

/**
 * Removes no rows. It makes the planner expect a few rows of a recordset ($1) instead of a hundred, so that it uses
 * indexes instead of full scans.
 */
export const FEW = 'LIMIT (SELECT json_array_length($1))'

/** The same for an unknown number of rows. */
export const FEW_ROWS = 'LIMIT (SELECT 9223372036854775807)'
