import { setTimeout } from 'node:timers/promises'
import { memoryOf } from '../processes.js'
import type { World } from '../world.js'

/** The resources of a service without traffic. */
export interface Footprint {
  /** Milliseconds from the start of the process to its ready line, sorted. */
  readyMs: number[]
  /** RSS in MB of 1,000,000 bytes without traffic; also with the built-in simulator, as `bin/up` runs it. */
  idleMb: number
  idleWithSandboxMb: number
}

const STARTS = 5
const IDLE_MS = 10_000

/** Starts the service as a user does, on the database that the loads left. */
export async function measureFootprint(world: World): Promise<Footprint> {
  await world.releaseServer()
  const readyMs: number[] = []
  for (let start = 1; start <= STARTS; start++) {
    const service = await world.startAsUser()
    readyMs.push(service.readyMs)
    await service.stop()
  }
  return {
    readyMs: readyMs.sort((a, b) => a - b),
    idleMb: await measureIdle(world, {}),
    idleWithSandboxMb: await measureIdle(world, { PARLEY_UPSTREAM_URL: 'sandbox' }),
  }
}

async function measureIdle(world: World, env: Record<string, string>): Promise<number> {
  const service = await world.startAsUser(env)
  await setTimeout(IDLE_MS)
  const megabytes = memoryOf(service.pid)
  await service.stop()
  return megabytes
}
