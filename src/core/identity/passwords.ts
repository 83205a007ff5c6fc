import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import type { Passwords } from '../../context.js'
import { createFairSemaphore } from '../../lib/async/fair-semaphore.js'
import { Problem } from '../../model/problem.js'

/**
 * Each hash uses a whole processor: on a machine with two, one is left to everything else. It also uses the threads that
 * read and write files: some are left to these.
 */
const CONCURRENT = availableParallelism() > 2 ? 2 : 1
/** Enough for the people behind one address. */
const MAX_WAITING_OF_ONE = 20
const MAX_WAITING = 1_000

/** Creates what hashes and checks the passwords of a process (Argon2id), a few at the same time. */
export function createPasswords(): Passwords {
  const inTurns = createFairSemaphore({ max: CONCURRENT })
  const waitingOf = new Map<string, number>()
  let waiting = 0
  let decoy: Promise<string> | null = null

  async function queue<Result>(source: string, work: () => Promise<Result>): Promise<Result> {
    const own = waitingOf.get(source) ?? 0
    if (own >= MAX_WAITING_OF_ONE || waiting >= MAX_WAITING) {
      throw new Problem('service_unavailable', 'Too many people sign in at this moment: try again', { retry_after: 2 })
    }
    waitingOf.set(source, own + 1)
    waiting += 1
    try {
      return await work()
    } finally {
      waiting -= 1
      const left = (waitingOf.get(source) ?? 1) - 1
      if (left > 0) waitingOf.set(source, left)
      else waitingOf.delete(source)
    }
  }

  return {
    queue,
    hash: (source, password) => queue(source, () => inTurns(source, () => hash(password))),
    matches: async (source, passwordHash, password) => {
      decoy ??= hash(randomBytes(32))
      const compared = passwordHash ?? (await decoy)
      const matches = await inTurns(source, () => verify(compared, password))
      return matches && passwordHash !== null
    },
  }
}
