import http from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { MEBIBYTE } from '../../src/lib/text/units.js'
import type { Child } from '../child.js'
import { memoryOf, peakMemoryOf, resetPeakMemory } from '../processes.js'
import { ADMIN_TOKEN } from '../world.js'

/** What many bodies at the same time did to the service. */
export interface FloodRow {
  name: string
  bodies: number
  statuses: number[]
  /** Until the last answer, in milliseconds. */
  answeredMs: number
  /** The peak of RSS above what it was before, in MB. */
  moreMb: number
  /** The longest wait for a request beside them, in milliseconds. */
  besideMs: number
}

/** Who sends the bodies, and where. */
interface Target {
  name: string
  path: string
  key: string | null
}

const COUNTS = [40, 120]
/** Between two requests beside the flood. */
const PAUSE_MS = 20
/** For connections and garbage of the last flood. */
const SETTLE_MS = 3_000

/** Sends many bodies of 1 MB at the same time, full of small values, to an endpoint of each kind. */
export async function measureFloods(
  service: Child,
  { key, instance }: { key: string; instance: string },
): Promise<FloodRow[]> {
  const targets: Target[] = [
    { name: 'without credentials', path: '/console/api/session', key: null },
    { name: 'with a key', path: '/broadcasts', key },
    { name: "with the operator's token", path: '/admin/organizations', key: ADMIN_TOKEN },
    { name: 'at the gateway', path: `/gateway/message/sendText/${instance}`, key },
    { name: 'at the gateway, another route', path: `/gateway/chat/findMessages/${instance}`, key },
  ]
  const shapes = [
    { name: 'as many values as fit', body: fill('{}', MEBIBYTE - 1) },
    { name: 'texts', body: fill(`"${'\\u0041'.repeat(20)}"`, MEBIBYTE - 1) },
  ]
  const rows: FloodRow[] = []
  for (const shape of shapes) {
    for (const target of targets) {
      for (const bodies of COUNTS) {
        await setTimeout(SETTLE_MS)
        rows.push({
          name: `${target.path} ${target.name}: ${shape.name}`,
          ...(await flood(service, target, shape.body, bodies)),
        })
      }
    }
  }
  return rows
}

async function flood({ url, pid }: Child, { path, key }: Target, body: Buffer, bodies: number) {
  const beforeMb = memoryOf(pid)
  resetPeakMemory(pid)
  let besideMs = 0
  let isRunning = true
  const beside = (async () => {
    while (isRunning) {
      const begunAt = performance.now()
      await ask(`${url}/healthz`, null, null)
      besideMs = Math.max(besideMs, performance.now() - begunAt)
      await setTimeout(PAUSE_MS)
    }
  })()
  const begunAt = performance.now()
  const answers = await Promise.all(Array.from({ length: bodies }, () => ask(url + path, key, body)))
  const answeredMs = performance.now() - begunAt
  isRunning = false
  await beside
  return { bodies, statuses: [...new Set(answers)].sort(), answeredMs, moreMb: peakMemoryOf(pid) - beforeMb, besideMs }
}

/** The status of the answer; 0 if the connection ended before it. */
function ask(url: string, key: string | null, body: Buffer | null): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === null ? {} : { 'content-length': body.length }),
  }
  return new Promise((resolve) => {
    const request = http.request(url, { method: body === null ? 'GET' : 'POST', headers, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    request.on('error', () => resolve(0))
    request.end(body)
  })
}

/** An object of `bytes` with a list of this value. */
function fill(value: string, bytes: number): Buffer {
  const count = Math.floor((bytes - 8) / (value.length + 1))
  return Buffer.from(`{"a":[${Array.from({ length: count }, () => value).join(',')}]}`)
}
