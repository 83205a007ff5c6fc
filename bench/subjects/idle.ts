import { setTimeout } from 'node:timers/promises'
import { cpuOf } from '../processes.js'
import type { World } from '../world.js'

/** The CPU of an idle process and of its server, as shares of a core. */
export interface IdleCost {
  node: number
  postgres: number
}

/**
 * Until the work that follows a start is done. Its last part is that V8 shrinks the heap that the start filled, about a
 * minute later, which costs as much CPU as two idle minutes.
 */
const STARTUP_MS = 80_000
const IDLE_MS = 60_000

/** Starts the service on a separate server, sends no request, and measures. */
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
