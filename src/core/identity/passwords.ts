import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import type { Passwords } from '../../context.js'
import { createSemaphore } from '../../lib/async/semaphore.js'
import { Problem } from '../../model/problem.js'

/** Hashing uses the threads that also read and write files: some are left to these. */
const CONCURRENT = 2
const MAX_WAITING = 100

/** Creates what hashes and checks the passwords of a process (Argon2id), a few at the same time. */
export function createPasswords(): Passwords {
  const semaphore = createSemaphore(CONCURRENT)
  let waiting = 0
  let decoy: Promise<string> | null = null

  async function queue<Result>(work: () => Promise<Result>): Promise<Result> {
    if (waiting >= MAX_WAITING) {
      throw new Problem('service_unavailable', 'Too many people sign in at this moment: try again', { retry_after: 2 })
    }
    waiting += 1
    try {
      return await work()
    } finally {
      waiting -= 1
    }
  }

  return {
    queue,
    hash: (password) => queue(() => semaphore(() => hash(password))),
    matches: async (passwordHash, password) => {
      decoy ??= hash(randomBytes(32))
      const compared = passwordHash ?? (await decoy)
      const matches = await semaphore(() => verify(compared, password))
      return matches && passwordHash !== null
    },
  }
}
