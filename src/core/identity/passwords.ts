import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import type { PasswordSource, Passwords } from '../../context.js'
import { createFairSemaphore } from '../../lib/async/fair-semaphore.js'
import { Problem } from '../../model/problem.js'

/** Enough for the people behind one address. */
const MAX_WAITING_OF_ONE = 20
const MAX_WAITING_OF_AREA = 60
const MAX_WAITING = 1_000

/**
 * Creates what hashes and checks the passwords of a process (Argon2id). Strangers and known sources have a queue each, so
 * a flood of strangers delays only strangers.
 */
export function createPasswords(): Passwords {
  const ofStrangers = createQueue()
  const ofKnown = createQueue()
  const queueOf = ({ isKnown }: PasswordSource) => (isKnown ? ofKnown : ofStrangers)
  let decoy: Promise<string> | null = null

  return {
    queue: (source, work) => queueOf(source).admit(source, work),
    hash: (source, password) => {
      const { admit, inTurn } = queueOf(source)
      return admit(source, () => inTurn(source, () => hash(password)))
    },
    matches: async (source, passwordHash, password) => {
      decoy ??= hash(randomBytes(32))
      const compared = passwordHash ?? (await decoy)
      const matches = await queueOf(source).inTurn(source, () => verify(compared, password))
      return matches && passwordHash !== null
    },
  }
}

/**
 * Hashes of one queue run one after the other: each uses a whole processor, and one of the threads that read and write
 * files.
 */
function createQueue() {
  const inTurns = createFairSemaphore({ max: 1 })
  const waitingOf = new Map<string, number>()
  let waiting = 0

  function count(key: string | null, change: 1 | -1): void {
    if (key === null) return
    const left = (waitingOf.get(key) ?? 0) + change
    if (left > 0) waitingOf.set(key, left)
    else waitingOf.delete(key)
  }

  function isFull({ id, area }: PasswordSource): boolean {
    if (waiting >= MAX_WAITING || (waitingOf.get(id) ?? 0) >= MAX_WAITING_OF_ONE) return true
    return area !== null && (waitingOf.get(area) ?? 0) >= MAX_WAITING_OF_AREA
  }

  return {
    admit: async <Result>(source: PasswordSource, work: () => Promise<Result>): Promise<Result> => {
      if (isFull(source)) {
        throw new Problem('service_unavailable', 'Too many people sign in at this moment: try again', {
          retry_after: 2,
        })
      }
      waiting += 1
      count(source.id, 1)
      count(source.area, 1)
      try {
        return await work()
      } finally {
        waiting -= 1
        count(source.id, -1)
        count(source.area, -1)
      }
    },
    inTurn: <Result>({ id, area }: PasswordSource, work: () => Promise<Result>) => inTurns(area ?? id, work),
  }
}
