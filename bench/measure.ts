import type { LoadResult, LoadShape } from './generator.js'
import { cpuOf, peakMemoryOf, resetPeakMemory } from './processes.js'
import type { Server } from './server.js'

/** A row of a table. */
export interface Row {
  /** The id by which the targets find it. */
  id: string
  title: string
  connections: number
  perSecond: number
  /** Milliseconds; null if the load does not report them. */
  p50Ms: number | null
  p95Ms: number | null
  p99Ms: number | null
  /**
   * Seconds of CPU per 1,000 requests: of the Node process, null without one, and of PostgreSQL, NaN if it runs on
   * another machine.
   */
  nodeCpu: number | null
  postgresCpu: number
  /** The peak memory of the Node process, in MB of 1,000,000 bytes. */
  peakMb: number | null
  /** This row's rate, and its CPU per request of Node and PostgreSQL together, relative to another row. */
  ratio?: { of: string; rate: number; cpu: number }
  /**
   * For work that continues after the answers: seconds from the last answer until all work is done, and the rate over
   * the whole time.
   */
  backlog?: { seconds: number; perSecond: number }
}

/** The server whose CPU is measured. */
export type LoadedServer = Pick<Server, 'database' | 'cpu'>

/** A load to measure. */
export interface Measurement {
  id: string
  title: string
  /** The Node process under load; null if PostgreSQL is measured directly. */
  pid: number | null
  connections: number
  /** Runs the load once. */
  run: (shape: LoadShape) => Promise<LoadResult>
  /** Resolves when the work that the load left behind is done; its CPU counts. */
  waitForBacklog?: () => Promise<void>
}

const WARM_UP = 1 / 4
/** Compared loads alternate in this number of rounds, so that other work of the machine affects all of them. */
const ROUNDS = 4

interface Tally {
  requests: number
  seconds: number
  times: number[]
  nodeCpu: number
  postgresCpu: number
  backlogSeconds: number
}

/** Warms up a load, and measures it. */
export async function measure(server: LoadedServer, seconds: number, load: Measurement): Promise<Row> {
  const tally = await beginTally(server, seconds, load)
  await runRound(server, seconds, load, tally)
  return toRow(load, tally)
}

/** Measures the loads of each group in alternation, and compares the others with the first. */
export async function measureAlternating(
  server: LoadedServer,
  seconds: number,
  groups: [Measurement, ...Measurement[]][],
): Promise<Row[]> {
  const rows: Row[] = []
  for (const group of groups) {
    const tallies = new Map<Measurement, Tally>()
    for (const load of group) tallies.set(load, await beginTally(server, seconds, load))
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [load, tally] of tallies) await runRound(server, seconds / ROUNDS, load, tally)
    }
    const [base, ...others] = [...tallies].map(([load, tally]) => toRow(load, tally))
    if (base) rows.push(base, ...others.map((row) => compare(row, base)))
  }
  return rows
}

async function beginTally(
  { database }: LoadedServer,
  seconds: number,
  { pid, run, connections, waitForBacklog }: Measurement,
): Promise<Tally> {
  await run({ connections, seconds: seconds * WARM_UP })
  await waitForBacklog?.()
  // The writes of earlier loads must not reach the disk during this one.
  await database.query('CHECKPOINT')
  if (pid !== null) resetPeakMemory(pid)
  return { requests: 0, seconds: 0, times: [], nodeCpu: 0, postgresCpu: 0, backlogSeconds: 0 }
}

async function runRound(
  server: LoadedServer,
  seconds: number,
  { pid, run, connections, waitForBacklog }: Measurement,
  tally: Tally,
): Promise<void> {
  const nodeBefore = pid === null ? 0 : cpuOf(pid)
  const postgresBefore = server.cpu()
  const result = await run({ connections, seconds })
  const answeredAt = performance.now()
  await waitForBacklog?.()
  tally.backlogSeconds += (performance.now() - answeredAt) / 1000
  tally.nodeCpu += pid === null ? 0 : cpuOf(pid) - nodeBefore
  tally.postgresCpu += server.cpu() - postgresBefore
  tally.requests += result.requests
  tally.seconds += result.seconds
  tally.times = tally.times.concat(result.times)
}

function toRow({ id, title, connections, pid, waitForBacklog }: Measurement, tally: Tally): Row {
  const { requests, seconds, backlogSeconds } = tally
  const times = Float64Array.from(tally.times).sort()
  return {
    id,
    title,
    connections,
    perSecond: requests / seconds,
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    p99Ms: quantile(times, 0.99),
    nodeCpu: pid === null ? null : (tally.nodeCpu / requests) * 1000,
    postgresCpu: (tally.postgresCpu / requests) * 1000,
    peakMb: pid === null ? null : peakMemoryOf(pid),
    ...(waitForBacklog && { backlog: { seconds: backlogSeconds, perSecond: requests / (seconds + backlogSeconds) } }),
  }
}

/** The value below which this share of them lies; null without values. */
export function quantile(sorted: Float64Array, share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}

function compare(row: Row, base: Row): Row {
  const cpu = (one: Row) => (one.nodeCpu ?? 0) + one.postgresCpu
  return { ...row, ratio: { of: base.title, rate: row.perSecond / base.perSecond, cpu: cpu(row) / cpu(base) } }
}
