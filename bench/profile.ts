import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageRoot } from '../src/lib/files/package-root.js'
import { gatewayProfileLoad } from './gateway-loads.js'
import { runLoad } from './generator.js'
import { callbackLoad, contactLoad, conversationLoad, type NextRequest, textLoad } from './loads.js'
import type { ProfileName } from './options.js'
import { formatTable } from './report.js'
import { untilProcessed } from './subjects/callbacks.js'
import type { World } from './world.js'

/** The used parts of a V8 CPU profile. Times are microseconds of the monotonic clock. */
interface CpuProfile {
  nodes: ProfileNode[]
  startTime: number
  samples: number[]
  timeDeltas: number[]
}

interface ProfileNode {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number }
  children?: number[]
}

const CONNECTIONS = 32
const SAMPLE_MICROSECONDS = 250
const TOP = 40

const loads: Record<ProfileName, (world: World, url: string) => NextRequest | Promise<NextRequest>> = {
  contact: contactLoad,
  conversations: (world) => conversationLoad(world, 1),
  send: textLoad,
  callbacks: callbackLoad,
  gateway: gatewayProfileLoad,
}

/** Runs one load against a service under V8's profiler; resolves to tables of its CPU time. */
export async function profile(world: World, name: ProfileName, seconds: number): Promise<string> {
  const folder = join(world.folder, 'profile')
  const profiler = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${SAMPLE_MICROSECONDS}`]
  const service = await world.startService({}, profiler)
  const load = await loads[name](world, service.url)
  const run = async (length: number) => {
    const result = await runLoad(service.url, { connections: CONNECTIONS, seconds: length }, load)
    await untilProcessed(world)
    return result
  }
  await run(seconds / 4)
  const from = monotonicMicroseconds()
  const { requests } = await run(seconds)
  const to = monotonicMicroseconds()
  await service.stop()

  const [file] = await readdir(folder)
  if (file === undefined) throw new Error('the profiler has written no profile')
  const recorded: CpuProfile = JSON.parse(await readFile(join(folder, file), 'utf8'))
  return describe(recorded, from, to, requests)
}

function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

function describe(recorded: CpuProfile, from: number, to: number, requests: number): string {
  const byNode = timeByNode(recorded, from, to)
  const nodes = new Map(recorded.nodes.map((node) => [node.id, node]))
  const busy = [...byNode].filter(([id]) => nodes.get(id)?.callFrame.functionName !== '(idle)')
  const total = busy.reduce((sum, [, time]) => sum + time, 0)
  const self = sumBy(busy, (id) => placeOf(nodes.get(id)))
  const packages = sumBy(busy, (id) => packageOf(nodes.get(id)))
  const inclusive = timeWithCallees(recorded, byNode)
  const table = (title: string, times: Map<string, number>) =>
    formatTable([title, 'µs/request', 'share'], topRows(times, total, requests))
  return [
    `${requests} requests, ${(total / requests).toFixed(1)} µs of the main thread each`,
    table('where the time was spent, by package', packages),
    table('by function, without what it calls', self),
    table('by function of the service, with what it calls synchronously', inclusive),
  ].join('\n\n')
}

function topRows(times: Map<string, number>, total: number, requests: number): string[][] {
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(([name, time]) => [name, (time / requests).toFixed(2), `${((time / total) * 100).toFixed(1)} %`])
}

/** A sample's node counts as running until the next sample. */
function timeByNode({ startTime, samples, timeDeltas }: CpuProfile, from: number, to: number): Map<number, number> {
  const times = new Map<number, number>()
  let at = startTime
  samples.forEach((id, index) => {
    at += timeDeltas[index] ?? 0
    if (at >= from && at <= to) times.set(id, (times.get(id) ?? 0) + (timeDeltas[index + 1] ?? 0))
  })
  return times
}

function sumBy(times: Iterable<[number, number]>, nameOf: (id: number) => string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [id, time] of times) sums.set(nameOf(id), (sums.get(nameOf(id)) ?? 0) + time)
  return sums
}

/** Adds each node's time once to every function of the service on its stack. */
function timeWithCallees({ nodes }: CpuProfile, byNode: Map<number, number>): Map<string, number> {
  const known = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const sums = new Map<string, number>()
  for (const [id, time] of byNode) {
    const places = new Set<string>()
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = known.get(at)
      if (packageOf(node) === OURS) places.add(placeOf(node))
    }
    for (const place of places) sums.set(place, (sums.get(place) ?? 0) + time)
  }
  return sums
}

const OURS = 'the service'

function packageOf(node: ProfileNode | undefined): string {
  const { url = '', functionName = '' } = node?.callFrame ?? {}
  if (url === '') return functionName.startsWith('(') ? functionName : 'native'
  if (url.startsWith('node:')) return 'Node'
  if (url.startsWith('wasm:')) return 'WebAssembly'
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? OURS
}

/** Function, file and line, with the file relative to the project. */
function placeOf(node: ProfileNode | undefined): string {
  const { functionName = '', url = '', lineNumber = 0 } = node?.callFrame ?? {}
  const name = functionName || '(anonymous)'
  if (url === '') return name
  const file = url.startsWith('file:') ? relative(packageRoot(), fileURLToPath(url)) : url
  return `${name} ${file.replace(/.*node_modules\//, '')}:${lineNumber + 1}`
}
