import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { formatAnalytics, judgeAnalytics } from './analytics-report.js'
import { formatBroadcast, judgeBroadcast } from './broadcast-report.js'
import { type Cleanup, createCleanup } from './cleanup.js'
import type { Row } from './measure.js'
import { type Options, readOptions, type Subject } from './options.js'
import { profile } from './profile.js'
import { formatFootprint, formatMedia, formatRows, formatTargets, judge, type Results } from './report.js'
import { formatScale, judgeScale } from './scale-report.js'
import { measureAnalytics } from './subjects/analytics.js'
import { measureBroadcast } from './subjects/broadcast.js'
import { measureCallbacks } from './subjects/callbacks.js'
import { measureContact } from './subjects/contact.js'
import { measureConversations } from './subjects/conversations.js'
import { measureFootprint } from './subjects/footprint.js'
import { measureMedia } from './subjects/media.js'
import { measureScale } from './subjects/scale.js'
import { measureSend } from './subjects/send.js'
import { measureWebhooks } from './subjects/webhooks.js'
import { formatWebhooks, judgeWebhooks } from './webhook-report.js'
import { startWorld, type World } from './world.js'

/** Those that only read come first: what the others write would be in their way. */
const loads: [Subject, (world: World, seconds: number) => Promise<Row[]>][] = [
  ['contact', measureContact],
  ['conversations', measureConversations],
  ['send', measureSend],
  ['callbacks', measureCallbacks],
]

/** The exit code of a program that a signal has ended. */
const INTERRUPTED = 130

process.exitCode = await run(process.argv.slice(2))

async function run(args: string[]): Promise<number> {
  const options = readOptionsOrComplain(args)
  if (options === null) return 2
  if (process.platform !== 'linux') return complain('the benchmark reads /proc, which only Linux has', 2)
  const cleanup = createCleanup()
  let interrupted = false
  const interrupt = () => {
    interrupted = true
    void abort(cleanup)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  try {
    if (options.profile !== null) await showProfile(cleanup, options, options.profile)
    else await benchmarkOf(options)(cleanup, options)
    return 0
  } catch (error) {
    // What the end of the processes under load has broken needs no word.
    if (interrupted) return INTERRUPTED
    return complain(error instanceof Error ? (error.stack ?? error.message) : String(error), 1)
  } finally {
    await cleanup.run()
  }
}

function benchmarkOf({ only }: Options): (cleanup: Cleanup, options: Options) => Promise<void> {
  if (only === 'scale') return benchmarkScale
  if (only === 'analytics') return benchmarkAnalytics
  if (only === 'webhooks') return benchmarkWebhooks
  return only === 'broadcast' ? benchmarkBroadcast : benchmark
}

/** Has a world of its own. */
async function benchmarkScale(cleanup: Cleanup, { seconds, messages, json }: Options): Promise<void> {
  const machine = describeMachine(seconds)
  print(machine)
  const scale = await measureScale(cleanup, messages, seconds)
  print(formatScale(scale))
  const targets = judgeScale(scale)
  print(formatTargets(targets))
  if (json !== null) await writeFile(json, `${JSON.stringify({ machine, scale, targets }, null, 2)}\n`)
}

/** Has a world of its own, too. */
async function benchmarkAnalytics(cleanup: Cleanup, { seconds, json }: Options): Promise<void> {
  const machine = describeMachine(seconds)
  print(machine)
  const analytics = await measureAnalytics(cleanup, seconds)
  print(formatAnalytics(analytics))
  const targets = judgeAnalytics(analytics)
  print(formatTargets(targets))
  if (json !== null) await writeFile(json, `${JSON.stringify({ machine, analytics, targets }, null, 2)}\n`)
}

/** Has a world of its own, too. */
async function benchmarkBroadcast(cleanup: Cleanup, { seconds, recipients, json }: Options): Promise<void> {
  const machine = describeMachine(seconds)
  print(machine)
  const broadcast = await measureBroadcast(cleanup, recipients)
  print(formatBroadcast(broadcast))
  const targets = judgeBroadcast(broadcast)
  print(formatTargets(targets))
  if (json !== null) await writeFile(json, `${JSON.stringify({ machine, broadcast, targets }, null, 2)}\n`)
}

/** Has a world of its own, too. */
async function benchmarkWebhooks(cleanup: Cleanup, { seconds, events, json }: Options): Promise<void> {
  const machine = describeMachine(seconds)
  print(machine)
  const webhooks = await measureWebhooks(cleanup, events)
  print(formatWebhooks(webhooks))
  const targets = judgeWebhooks(webhooks)
  print(formatTargets(targets))
  if (json !== null) await writeFile(json, `${JSON.stringify({ machine, webhooks, targets }, null, 2)}\n`)
}

async function benchmark(cleanup: Cleanup, { seconds, only, json }: Options): Promise<void> {
  const machine = describeMachine(seconds)
  print(machine)
  const world = await startWorld(cleanup)
  const results: Results = { rows: [], media: null, footprint: null }
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
  if (only === null || only === 'footprint') {
    results.footprint = await measureFootprint(world)
    print(formatFootprint(results.footprint))
  }
  const targets = judge(results)
  if (targets.length > 0) print(formatTargets(targets))
  if (json !== null) await writeFile(json, `${JSON.stringify({ machine, ...results, targets }, null, 2)}\n`)
}

async function showProfile(
  cleanup: Cleanup,
  { seconds }: Options,
  name: NonNullable<Options['profile']>,
): Promise<void> {
  print(describeMachine(seconds))
  print(await profile(await startWorld(cleanup), name, seconds))
}

/** The figures mean nothing without it; a load average well above 0 says that others were at work too. */
function describeMachine(seconds: number): string {
  const model = cpus()[0]?.model ?? 'unknown'
  const load = loadavg()[0]?.toFixed(1)
  return `Node ${process.version}, ${cpus().length} cores (${model}), load average ${load} before; ${seconds} s each`
}

function readOptionsOrComplain(args: string[]): Options | null {
  try {
    return readOptions(args)
  } catch (error) {
    complain((error as Error).message, 2)
    return null
  }
}

async function abort(cleanup: Cleanup): Promise<never> {
  await cleanup.run().catch(() => undefined)
  process.exit(INTERRUPTED)
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`)
}

function complain(message: string, exitCode: number): number {
  process.stderr.write(`bench: ${message}\n`)
  return exitCode
}
