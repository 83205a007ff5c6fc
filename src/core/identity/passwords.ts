import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import type { PasswordSource, Passwords } from '../../context.js'
import { FairPlaces } from '../../lib/async/fair-places.js'
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
  const ofSources = new FairPlaces({ places: MAX_WAITING, ofOneKey: MAX_WAITING_OF_ONE })
  const ofAreas = new FairPlaces({ places: MAX_WAITING, ofOneKey: MAX_WAITING_OF_AREA })
  const turns = new FairPlaces({ places: 1 })

  return {
    admit: async <Result>({ id, area }: PasswordSource, work: () => Promise<Result>): Promise<Result> => {
      if (ofSources.shortage(id) !== null || ofAreas.shortage(area) !== null) {
        throw new Problem('service_unavailable', 'Too many people sign in at this moment: try again', {
          retry_after: 2,
        })
      }
      return ofSources.run(id, () => ofAreas.run(area, work))
    },
    inTurn: <Result>({ id, area }: PasswordSource, work: () => Promise<Result>) => turns.run(area ?? id, work),
  }
}
