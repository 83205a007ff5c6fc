import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { createSemaphore } from '../../lib/async/semaphore.js'
import { Problem } from '../../model/problem.js'

/** The threads that work on passwords work on files too: some are left to these. */
const AT_A_TIME = 2
const MAX_WAITING = 100

const inTurn = createSemaphore(AT_A_TIME)
let waiting = 0
let nobodys: Promise<string> | null = null

/** The hash of a password (Argon2id). Throws service_unavailable where too many wait for theirs. */
export function hashPassword(password: string): Promise<string> {
  return withPlace(() => inTurn(() => hash(password)))
}

/**
 * Whether the password is the one with this hash. Null is the hash of nobody: false, after the same work, so that the time
 * tells not who is a member. To be asked within `withPlace`.
 */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  nobodys ??= hash(randomBytes(32))
  const compared = passwordHash ?? (await nobodys)
  const fits = await inTurn(() => verify(compared, password))
  return fits && passwordHash !== null
}

/** Does work on a password as one of those who wait for theirs. Throws service_unavailable, without any of it, where there are too many. */
export async function withPlace<Result>(work: () => Promise<Result>): Promise<Result> {
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
