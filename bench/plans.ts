import pg from 'pg'
import type { Context } from '../src/context.js'
import type { Queryable } from '../src/database/pool.js'
import type { AnyStatement } from '../src/database/statement.js'
import { type PlanNode, rowsReadBy } from '../test/support/plan-nodes.js'

/** The plan of one run of a statement. */
export interface StatementPlan {
  statement: string
  /** True if it used the generic plan. */
  isGeneric: boolean
  milliseconds: number
  /** Rows read by scans, including discarded ones. */
  rowsRead: number
  /** Blocks of 8 kB, from shared buffers and from outside. */
  blocksHit: number
  blocksRead: number
  /** The used indexes, and "all of …" for sequential scans. */
  accessPaths: string[]
}

/** The number of runs after which PostgreSQL has chosen between the generic plan and custom ones. */
const RUNS = 7

/** Runs a part of the service in this process, and explains every statement that it executes, with its parameters. */
export async function explainAll(url: string, work: (ctx: Context) => Promise<unknown>): Promise<StatementPlan[]> {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser } })
  await client.connect()
  const plans: StatementPlan[] = []
  const database: Queryable = {
    run: explainAndRun,
    raise: explainAndRun,
  }
  async function explainAndRun<Row>({ name, text }: AnyStatement<Row>, values: readonly unknown[]): Promise<Row[]> {
    plans.push(await explain(client, { name, text }, values))
    return (await client.query({ text, values: [...values] })).rows
  }
  try {
    // Reading functions use nothing else of the context.
    await work({ database } as Context)
    return plans
  } finally {
    await client.end()
  }
}

/** Prepares the statement in SQL without types, as node-postgres does. */
async function explain(
  client: pg.Client,
  { name, text }: Pick<AnyStatement<unknown>, 'name' | 'text'>,
  values: readonly unknown[],
): Promise<StatementPlan> {
  const prepared = pg.escapeIdentifier(name)
  const { rows: known } = await client.query('SELECT FROM pg_prepared_statements WHERE name = $1', [name])
  if (known.length === 0) await client.query(`PREPARE ${prepared} AS ${text}`)
  const call = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${prepared} ${toArguments(values)}`
  for (let run = 1; run < RUNS; run++) await client.query(call)
  const before = await genericPlans(client, name)
  const { rows } = await client.query(call)
  const { Plan: root, 'Execution Time': milliseconds } = rows[0]['QUERY PLAN'][0]
  const scans = scansOf(root)
  return {
    statement: name,
    isGeneric: (await genericPlans(client, name)) > before,
    milliseconds,
    rowsRead: scans.filter(isOfTable).reduce((sum, scan) => sum + rowsReadBy(scan), 0),
    blocksHit: root['Shared Hit Blocks'],
    blocksRead: root['Shared Read Blocks'],
    accessPaths: [...new Set(scans.flatMap(accessPathsOf))],
  }
}

async function genericPlans(client: pg.Client, name: string): Promise<number> {
  const { rows } = await client.query('SELECT generic_plans FROM pg_prepared_statements WHERE name = $1', [name])
  return rows[0].generic_plans
}

function toArguments(values: readonly unknown[]): string {
  return values.length === 0 ? '' : `(${values.map(toLiteral).join(', ')})`
}

function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  // An array in braces looks like a JSON array in brackets.
  if (Array.isArray(value)) return pg.escapeLiteral(`{${JSON.stringify(value).slice(1, -1)}}`)
  return pg.escapeLiteral(String(value))
}

/** The executed nodes that read a table or an index. */
function scansOf(node: PlanNode): PlanNode[] {
  const below = (node.Plans ?? []).flatMap(scansOf)
  const isScan = node['Relation Name'] !== undefined || node['Index Name'] !== undefined
  return isScan && node['Actual Loops'] > 0 ? [node, ...below] : below
}

/** Rows of a bitmap index scan are counted where the table is read. */
function isOfTable(node: PlanNode): boolean {
  return node['Node Type'] !== 'Bitmap Index Scan'
}

function accessPathsOf(node: PlanNode): string[] {
  if (node['Index Name'] !== undefined) return [node['Index Name']]
  return node['Node Type'] === 'Seq Scan' ? [`all of ${node['Relation Name']}`] : []
}

const INT8 = 20

/** The same type parsers as the service. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 && format !== 'binary') return Number
  return pg.types.getTypeParser(oid, format as 'text')
}
