import { execFileSync } from 'node:child_process'
import { packageRoot } from '../../src/lib/files/package-root.js'
import { startChild } from '../child.js'
import { quantile } from '../measure.js'
import type { NoiseKind } from '../neighbours/noise.js'
import { NOISES } from '../neighbours/noises.js'
import { openQuietTenant, type QuietTenant, STEPS, type Step, type StepTimes } from '../neighbours/quiet.js'
import { memoryOf } from '../processes.js'
import { type Run, startServer } from '../server.js'
import { until } from '../until.js'
import { ADMIN_TOKEN, call, MAIN, makeFolder, serviceEnvironment, startService } from '../world.js'

/** Milliseconds of a step. */
export interface StepCost {
  p50Ms: number
  p99Ms: number
}

/** What the quiet tenant's steps cost alone and beside one kind of noise. */
export interface Beside {
  title: string
  rounds: number
  alone: Record<Step, StepCost>
  beside: Record<Step, StepCost>
  /** What the noise had left to do when the quiet tenant was measured. */
  remaining: number
  /** Memory (RSS) of the service after it, in MB. */
  memoryMb: number
}

export interface Neighbours {
  noises: Beside[]
  /** Memory (RSS) of the service before the first noise, in MB. */
  memoryBeforeMb: number
}

const WARM_UP_SECONDS = 2
const DELETION = { what: 'the noisy organization has not been deleted', pollMs: 100, timeoutMs: 10 * 60_000 }

/**
 * Measures the steps of a quiet tenant: alone for half of the time, for all of it beside each noise, and alone for the
 * other half when the noisy organization has been deleted, so that other work of the machine affects both.
 */
export async function measureNeighbours(run: Run, seconds: number, only: string | null): Promise<Neighbours> {
  const folder = await makeFolder(run)
  const { database, url: databaseUrl } = await startServer(run, folder)
  const sandbox = await startChild(run, [MAIN, 'sandbox'], {})
  const settings = { PARLEY_DATABASE_URL: databaseUrl, PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8' }
  const env = { ...serviceEnvironment(folder, `${sandbox.url}/v23.0`), ...settings, PARLEY_LOG_LEVEL: 'error' }
  const service = await startService(run, env, ['--migrate'])
  const addresses = { url: service.url, adminToken: ADMIN_TOKEN, sandboxUrl: sandbox.url }
  const noise = await startChild(run, [`${packageRoot()}/dist/bench/neighbours/noise-process.js`], {
    BENCH_STAGE: JSON.stringify({ ...addresses, databaseUrl }),
  })
  const quiet = await openQuietTenant({ ...addresses, database })
  run.add(quiet.close)
  // A minute after the deletion, the job looks once more for rows that came late; that is not waited for.
  const untilDeleted = () =>
    until(async () => {
      const { rowCount } = await database.query(
        `SELECT FROM jobs WHERE task = 'delete_organization' AND payload <> '{"isLast": true}'`,
      )
      return rowCount === 0
    }, DELETION)

  await playRounds(quiet, WARM_UP_SECONDS)
  const memoryBeforeMb = memoryOf(service.pid)
  const noises: Beside[] = []
  for (const kind of NOISES.filter(({ name }) => only === null || name === only)) {
    if (!isPossible(kind)) continue
    const alone = await playRounds(quiet, seconds / 2)
    await call('POST', `${noise.url}/start?name=${kind.name}`, null)
    const beside = await playRounds(quiet, seconds)
    const { remaining } = await call('GET', `${noise.url}/remaining`, null)
    await call('POST', `${noise.url}/stop`, null)
    await untilDeleted()
    alone.push(...(await playRounds(quiet, seconds / 2)))
    const memoryMb = memoryOf(service.pid)
    const costs = { alone: costsOf(alone), beside: costsOf(beside) }
    noises.push({ title: kind.title, rounds: beside.length, ...costs, remaining, memoryMb })
  }
  return { noises, memoryBeforeMb }
}

async function playRounds(quiet: QuietTenant, seconds: number): Promise<StepTimes[]> {
  const deadline = performance.now() + seconds * 1_000
  const rounds: StepTimes[] = []
  while (performance.now() < deadline || rounds.length === 0) rounds.push(await quiet.round())
  return rounds
}

function costsOf(rounds: readonly StepTimes[]): Record<Step, StepCost> {
  const costs = STEPS.map((step) => {
    const times = Float64Array.from(rounds, (times) => times[step]).sort()
    return [step, { p50Ms: quantile(times, 0.5) ?? Number.NaN, p99Ms: quantile(times, 0.99) ?? Number.NaN }]
  })
  return Object.fromEntries(costs)
}

function isPossible({ needs }: NoiseKind): boolean {
  if (needs === undefined) return true
  try {
    execFileSync(needs, ['-version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
