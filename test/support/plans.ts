import type { PoolClient } from 'pg'
import type { TestDatabase } from './database.js'
import { type PlanNode, rowsReadBy } from './plan-nodes.js'
import { loadStatements } from './statements.js'

/** The plan by which a statement was run once. */
export interface RunPlan {
  /** The statement's name; its beginning where it is none of the service's. */
  name: string
  /** What the server expected it to cost. */
  cost: number
  /** How many rows of tables it read, those included that a filter took away. */
  rows: number
  /** How many pages of tables and indexes it looked at. */
  pages: number
  /** By which nodes it read them. */
  nodes: string
}

/** Has every connection of the pool tell the plans of its statements; resolves to what runs `work` and tells those of it. */
export async function watchPlans({ pool }: TestDatabase): Promise<(work: () => Promise<void>) => Promise<RunPlan[]>> {
  const names = new Map((await loadStatements()).map(({ name, text }) => [text.trim(), name]))
  let plans: RunPlan[] = []
  const clients: PoolClient[] = []
  // All but the one that the process lives by.
  while (clients.length < (pool.options.max ?? 0) - 1) clients.push(await pool.connect())
  for (const client of clients) {
    await client.query(SETTINGS)
    client.on('notice', ({ message = '' }) => {
      const found = /plan:\s*(\{.*\})\s*$/s.exec(message)?.[1]
      if (found === undefined) return
      const { 'Query Text': text, Plan: root } = JSON.parse(found) as { 'Query Text': string; Plan: PlanNode }
      plans.push(summarize(names.get(text.trim()) ?? text.slice(0, 300), root))
    })
    client.release()
  }
  return async (work) => {
    plans = []
    await work()
    return plans
  }
}

/** The plans are those for any parameters: made once for each connection, and kept. */
const SETTINGS = `
  LOAD 'auto_explain';
  SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; SET auto_explain.log_timing = off;
  SET auto_explain.log_buffers = on; SET auto_explain.log_format = json; SET auto_explain.log_level = notice;
  SET plan_cache_mode = force_generic_plan`

function summarize(name: string, root: PlanNode): RunPlan {
  const scans = nodesOf(root).filter((node) => node['Relation Name'] !== undefined && node['Actual Loops'] > 0)
  return {
    name,
    cost: root['Total Cost'],
    rows: scans.reduce((sum, scan) => sum + rowsReadBy(scan), 0),
    pages: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    nodes: scans.map((scan) => `${scan['Node Type']} on ${scan['Relation Name']}: ${rowsReadBy(scan)}`).join(', '),
  }
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}
