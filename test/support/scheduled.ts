import { makeJobsDue } from './jobs.js'
import type { World } from './world.js'

/** Ten minutes, in ms: more than a time may be in the past. */
export const LATER_MS = 10 * 60_000

/** Each round sends the next message of a contact. */
const ROUNDS = 3

/** The time of the service's clock in `ms`, as requests give it. */
export function inTime(world: Pick<World, 'now'>, ms = LATER_MS): string {
  return new Date(world.now().getTime() + ms).toISOString()
}

/** Moves the service's clock on, and sends what is due then: up to three messages of one contact. */
export async function passTime(
  world: Pick<World, 'advance' | 'database' | 'drain'>,
  ms = LATER_MS,
  rounds = ROUNDS,
): Promise<void> {
  world.advance(ms)
  for (let round = 0; round < rounds; round++) {
    await makeJobsDue(world)
    await world.drain()
  }
}
