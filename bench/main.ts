import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { formatAnalytics, judgeAnalytics } from './analytics-report.js'
import { formatBodies, judgeBodies } from './bodies-report.js'
import { formatBroadcast, judgeBroadcast } from './broadcast-report.js'
import { createCleanup } from './cleanup.js'
import { formatConsole, judgeConsole } from './console-report.js'
import { formatDisk, judgeDisk } from './disk-report.js'
import { formatFullNumber, judgeFullNumber } from './full-number-report.js'
import { formatGateway, judgeGateway } from './gateway-report.js'
import type { Row } from './measure.js'
import { formatMove, judgeMove } from './move-report.js'
import { formatNeighbours, judgeNeighbours } from './neighbours/report.js'
import { type Options, readOptions, type Subject } from './options.js'
import { profile } from './profile.js'
import {
  formatFootprint,
  formatIdle,
  formatMedia,
  formatRows,
  formatTargets,
  judge,
  type Results,
  type Target,
} from './report.js'
import { formatScale, judgeScale } from './scale-report.js'
import { describeServer, type Run } from './server.js'
import { measureAnalytics } from './subjects/analytics.js'
import { measureBodies } from './subjects/bodies.js'
import { measureBroadcast } from './subjects/broadcast.js'
import { measureCallbacks } from './subjects/callbacks.js'
import { measureConsole } from './subjects/console.js'
import { measureContact } from './subjects/contact.js'
import { measureConversations } from './subjects/conversations.js'
import { measureDisk } from './subjects/disk.js'
import { measureFootprint } from './subjects/footprint.js'
import { measureFullNumber } from './subjects/full-number.js'
import { measureGateway } from './subjects/gateway.js'
import { measureIdle } from './subjects/idle.js'
import { measureMedia } from './subjects/media.js'
import { measureMove } from './subjects/move.js'
import { measureNeighbours } from './subjects/neighbours.js'
import { measureScale } from './subjects/scale.js'
import { measureSend } from './subjects/send.js'
import { measureVerify } from './subjects/verify.js'
import { measureWebhooks } from './subjects/webhooks.js'
import { formatVerify, judgeVerify } from './verify-report.js'
import { formatWebhooks, judgeWebhooks } from './webhook-report.js'
import { startWorld, type World } from './world.js'

/** Loads that only read come first, because the writes of the others would affect them. */
const loads: [Subject, (world: World, seconds: number) => Promise<Row[]>][] = [
  ['contact', measureContact],
  ['conversations', measureConversations],
  ['send', measureSend],
  ['callbacks', measureCallbacks],
]

/** The exit code after a signal. */
const INTERRUPTED = 130

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const options = readOptionsOrPrint(args)
  if (options === null) return 2
  if (process.platform !== 'linux') return printError('the benchmark reads /proc, which only Linux has', 2)
  const run: Run = { ...createCleanup(), databaseUrl: options.database }
  let interrupted = false
  const interrupt = () => {
    interrupted = true
    void abort(run)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  try {
    if (options.profile !== null) await showProfile(run, options, options.profile)
    else await benchmarkOf(run, options)
    return 0
  } catch (error) {
    // Errors caused by stopping the processes under load are not reported.
    if (interrupted) return INTERRUPTED
    return printError(error instanceof Error ? (error.stack ?? error.message) : String(error), 1)
  } finally {
    await run.end()
  }
}

function benchmarkOf(run: Run, options: Options): Promise<void> {
  const { only, seconds, messages, recipients, events, sends, share, noise } = options
  switch (only) {
    case 'scale':
      return report(run, options, () => measureScale(run, options), { format: formatScale, judge: judgeScale })
    case 'analytics':
      return report(run, options, () => measureAnalytics(run, seconds), {
        format: formatAnalytics,
        judge: judgeAnalytics,
      })
    case 'broadcast':
      return report(run, options, () => measureBroadcast(run, recipients), {
        format: formatBroadcast,
        judge: judgeBroadcast,
      })
    case 'webhooks':
      return report(run, options, () => measureWebhooks(run, events), { format: formatWebhooks, judge: judgeWebhooks })
    case 'gateway':
      return report(run, options, () => measureGateway(run, seconds), { format: formatGateway, judge: judgeGateway })
    case 'console':
      return report(run, options, () => measureConsole(run), { format: formatConsole, judge: judgeConsole })
    case 'full-number': {
      const measureShare = async () => measureFullNumber(await startWorld(run), seconds, share)
      return report(run, options, measureShare, { format: formatFullNumber, judge: judgeFullNumber })
    }
    case 'neighbours': {
      const measure = () => measureNeighbours(run, seconds, noise)
      return report(run, options, measure, { format: formatNeighbours, judge: judgeNeighbours })
    }
    case 'bodies':
      return report(run, options, () => measureBodies(run), { format: formatBodies, judge: judgeBodies })
    case 'verify':
      return report(run, options, () => measureVerify(run, messages, options.keep), {
        format: formatVerify,
        judge: judgeVerify,
      })
    case 'disk':
      return report(run, options, () => measureDisk(run, sends), { format: formatDisk, judge: judgeDisk })
    case 'move':
      return report(run, options, () => measureMove(run, messages, options.keep), {
        format: formatMove,
        judge: judgeMove,
      })
    default:
      return benchmark(run, options)
  }
}

/** Runs a measurement with its own databases, and prints its table and targets. */
async function report<Measured>(
  run: Run,
  { only, seconds, json }: Options,
  measure: () => Promise<Measured>,
  show: { format: (measured: Measured) => string; judge: (measured: Measured) => Target[] },
): Promise<void> {
  const machine = await describeMachine(run, seconds)
  print(machine)
  const measured = await measure()
  print(show.format(measured))
  const targets = show.judge(measured)
  print(formatTargets(targets))
  const results = { machine, [String(only)]: measured, targets }
  if (json !== null) await writeFile(json, `${JSON.stringify(results, null, 2)}\n`)
}

async function benchmark(run: Run, { seconds, only, json }: Options): Promise<void> {
  const machine = await describeMachine(run, seconds)
  print(machine)
  const world = await startWorld(run)
  const results: Results = { rows: [], media: null, footprint: null, idle: null }
  for (const [subject, measureSubject] of loads) {
    if (only !== null && only !== subject) continue
    const rows = await measureSubject(world, seconds)
    results.rows.push(...rows)
    print(formatRows(rows))
  }
  if (only === null || only === 'media') {
    results.media = await measureMedia(world)
    print(formatMedia(results.media))
  }
  if (only === 'idle') {
    results.idle = await measureIdle(world)
    print(formatIdle(results.idle))
  }
  if (only === null || only === 'footprint') {
    results.footprint = await measureFootprint(world)
    print(formatFootprint(results.footprint))
  }
  const targets = judge(results)
  if (targets.length > 0) print(formatTargets(targets))
  if (json !== null) await writeFile(json, `${JSON.stringify({ machine, ...results, targets }, null, 2)}\n`)
}

async function showProfile(run: Run, { seconds }: Options, name: NonNullable<Options['profile']>): Promise<void> {
  print(await describeMachine(run, seconds))
  print(await profile(await startWorld(run), name, seconds))
}

/**
 * The results mean nothing without the machine. A load average well above 0 shows that other processes were running.
 */
async function describeMachine(run: Run, seconds: number): Promise<string> {
  const model = cpus()[0]?.model ?? 'unknown'
  const load = loadavg()[0]?.toFixed(1)
  const machine = `Node ${process.version}, ${cpus().length} cores (${model}), load average ${load} before; ${seconds} s each`
  return `${machine}\n${await describeServer(run)}`
}

function readOptionsOrPrint(args: string[]): Options | null {
  try {
    return readOptions(args)
  } catch (error) {
    printError((error as Error).message, 2)
    return null
  }
}

async function abort(run: Run): Promise<never> {
  await run.end().catch(() => undefined)
  process.exit(INTERRUPTED)
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`)
}

function printError(message: string, exitCode: number): number {
  process.stderr.write(`bench: ${message}\n`)
  return exitCode
}
