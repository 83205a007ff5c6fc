import { setTimeout } from 'node:timers/promises'
import { runPaced } from '../generator.js'
import { callbackLoad, conversationLoad, textLoad } from '../loads.js'
import { quantile } from '../measure.js'
import { cpuOf, memoryOf } from '../processes.js'
import { call, type World } from '../world.js'
import { untilProcessed } from './callbacks.js'

/** What a full business number does in a second; the upstream's largest throughput is 1,000 sends. */
const SENDS = 1_000
const INBOUND = 300
const CONNECTIONS = 64
/** How often the backlog is looked at. */
const SAMPLE_MS = 1_000
/** How often per second the longest conversation is read. */
const READS = 2
const IDLE_TIMEOUT_MS = 60_000

/** A request's times in milliseconds. */
interface Times {
  p50Ms: number
  p99Ms: number
}

/** What one full number costs, or a share of it. */
export interface FullNumber {
  /** The share of a full number in percent. */
  share: number
  seconds: number
  sends: Times & { perSecond: number }
  /** Answers to callbacks of inbound messages, one per POST. */
  callbacks: Times
  /** Reading a page of a conversation meanwhile. */
  reads: Times
  /** Stored callbacks that wait to be processed, once per second. */
  backlog: number[]
  /** Seconds from the end of the load until every status has arrived and every callback is processed. */
  catchUpSeconds: number
  /** Sent messages without all statuses, and inbound messages that are not recorded, after that. */
  lost: number
  /** Shares of a core. */
  nodeCpu: number
  postgresCpu: number
  memoryMb: { start: number; end: number }
}

/**
 * Sends texts, receives the statuses of each (one per POST) and inbound messages at the same time, all at constant
 * rates: the given share of what one full business number does.
 */
export async function measureFullNumber(world: World, seconds: number, share: number): Promise<FullNumber> {
  await call('POST', `${world.sandboxUrl}/_sim/settings`, { statuses: true, batch: 1 })
  const service = await world.startService()
  const { rows } = await world.database.query<{ now: Date }>('SELECT now() AS now')
  const startedAt = rows[0]?.now as Date
  const memoryAtStart = memoryOf(service.pid)
  const cpuBefore = [cpuOf(service.pid), world.cpu()] as const
  const paced = (perSecond: number) => ({ perSecond: (perSecond * share) / 100, seconds, connections: CONNECTIONS })
  const sampling = new AbortController()
  const backlog = sampleBacklog(world, sampling.signal)
  const [sends, inbound, reads] = await Promise.all([
    runPaced(service.url, paced(SENDS), textLoad(world)),
    runPaced(service.url, paced(INBOUND), callbackLoad(world)),
    runPaced(service.url, { perSecond: READS, seconds, connections: 1 }, conversationLoad(world, 1)),
  ])
  const cpu = [cpuOf(service.pid) - cpuBefore[0], world.cpu() - cpuBefore[1]] as const
  const memoryAtEnd = memoryOf(service.pid)
  sampling.abort()
  const samples = await backlog
  const begun = performance.now()
  await call('POST', `${world.sandboxUrl}/_sim/idle`, { timeout_ms: IDLE_TIMEOUT_MS })
  await untilProcessed(world)
  const catchUpSeconds = (performance.now() - begun) / 1_000
  const recorded = await countRecorded(world, startedAt)
  await service.stop()
  return {
    share,
    seconds: sends.seconds,
    sends: { perSecond: sends.requests / sends.seconds, ...timesOf(sends.times) },
    callbacks: timesOf(inbound.times),
    reads: timesOf(reads.times),
    backlog: samples,
    catchUpSeconds,
    lost: inbound.requests - recorded.inbound + sends.requests - recorded.read,
    nodeCpu: cpu[0] / sends.seconds,
    postgresCpu: cpu[1] / sends.seconds,
    memoryMb: { start: memoryAtStart, end: memoryAtEnd },
  }
}

/** Resolves when the signal is aborted, to the number of waiting callbacks at every sample. */
async function sampleBacklog({ database }: World, signal: AbortSignal): Promise<number[]> {
  const samples: number[] = []
  while (!signal.aborted) {
    const { rows } = await database.query('SELECT count(*)::int AS waiting FROM callbacks WHERE waiting')
    samples.push(rows[0].waiting)
    await setTimeout(SAMPLE_MS, undefined, { signal }).catch(() => undefined)
  }
  return samples
}

/** Inbound messages, and sent ones with all their statuses. */
async function countRecorded(
  { database, organization }: World,
  since: Date,
): Promise<{ inbound: number; read: number }> {
  const { rows } = await database.query(
    `SELECT count(*) FILTER (WHERE sender_type = 'user-chat')::int AS inbound,
       count(*) FILTER (WHERE sender_type <> 'user-chat' AND read_at IS NOT NULL)::int AS read
     FROM messages WHERE organization_id = $1 AND recorded_at >= $2`,
    [organization.id, since],
  )
  return rows[0]
}

function timesOf(times: readonly number[]): Times {
  const sorted = Float64Array.from(times).sort()
  return { p50Ms: quantile(sorted, 0.5) ?? Number.NaN, p99Ms: quantile(sorted, 0.99) ?? Number.NaN }
}
