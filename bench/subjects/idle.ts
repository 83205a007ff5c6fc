import { setTimeout } from 'node:timers/promises'
import { cpuOf } from '../processes.js'
import type { World } from '../world.js'

/** What a process that nobody uses takes, and its server, as shares of a core. */
export interface IdleCost {
  node: number
  postgres: number
}

/**
 * Until what a start leaves to be done has been done. The last of it is that V8 shrinks the heap that the start filled,
 * about a minute later, which costs as much CPU as two idle minutes.
 */
const STARTUP_MS = 80_000
const IDLE_MS = 60_000

/** Starts the service on a server of its own, asks it nothing, and measures. */
export async function measureIdle(world: World): Promise<IdleCost> {
  const service = await world.startService()
  await setTimeout(STARTUP_MS)
  const before = [cpuOf(service.pid), world.cpu()] as const
  await setTimeout(IDLE_MS)
  const seconds = IDLE_MS / 1000
  const cost = {
    node: (cpuOf(service.pid) - before[0]) / seconds,
    postgres: (world.cpu() - before[1]) / seconds,
  }
  await service.stop()
  return cost
}
