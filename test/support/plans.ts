import type { PoolClient } from 'pg'
import type { TestDatabase } from './database.js'
import { type PlanNode, rowsReadBy } from './plan-nodes.js'
import { loadStatements } from './statements.js'

/** The plan by which a statement was run once. */
export interface RunPlan {
  /** The statement's name, or its beginning if it does not belong to the service. */
  name: string
  /** The server's estimate of its cost. */
  cost: number
  /** The number of table rows that it read, including filtered ones. */
  rows: number
  /** The number of pages of tables and indexes that it read. */
  pages: number
  /** The nodes that read them. */
  nodes: string
}

/**
 * Makes every connection of the pool log its plans; resolves to a function that runs `work` and returns the plans of
 * its statements.
 */
export async function watchPlans({ pool }: TestDatabase): Promise<(work: () => Promise<void>) => Promise<RunPlan[]>> {
  const names = new Map((await loadStatements()).map(({ name, text }) => [text.trim(), name]))
  let plans: RunPlan[] = []
  const clients: PoolClient[] = []
  // All except the connection of the process registry.
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

/** Generic plans: created once per connection, and cached. */
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
