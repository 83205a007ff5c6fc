import type { FastifyRequest } from 'fastify'
import { type ByteBudget, type ByteLimits, createByteBudget } from '../lib/async/byte-budget.js'
import { FairPlaces, NoPlaceError, type PlaceLimits, type Shortage } from '../lib/async/fair-places.js'
import { MEBIBYTE } from '../lib/text/units.js'
import { Problem } from '../model/problem.js'
import { shortageProblem } from '../model/shortage.js'
import { clientNetwork } from './access/client-address.js'

/** Bytes of bodies in progress: of organizations and the operator, and of networks that sign in. */
const OF_CALLERS: ByteLimits = { capacity: 32 * MEBIBYTE, ofOneKey: 16 * MEBIBYTE, floor: 1_024 }
// More than all who may wait for their passwords to be checked: nobody else is refused for them.
const OF_STRANGERS: ByteLimits = { capacity: 24 * MEBIBYTE, ofOneKey: MEBIBYTE, floor: 1_024 }
/** Values take many times the memory of their bytes, so large bodies are read and handled in turn. */
const TURNS: PlaceLimits = { places: 4, ofOneKey: 1, waitMs: 10_000 }
const OPERATOR = 'operator'
const RETRY_SECONDS = 2

/** The memory of one request's body. */
export interface HeldBody {
  /** Sets how many bytes it holds. Throws too_many_requests, service_unavailable. */
  reserve(bytes: number): void
  /** All of it has arrived. */
  complete(): void
  /** Waits for the turn of a large body. Throws too_many_requests, service_unavailable, and invalid_json if nobody waits. */
  takeTurn(): Promise<void>
  /** Ends the turn and gives the bytes back; further calls do nothing. */
  release(): void
}

/** The memory for the JSON bodies of this process. */
export interface BodyMemory {
  /** Opens a part for the body of a request. `onEvicted` is called with the problem if it arrives for too long. */
  hold(request: FastifyRequest, onEvicted: (problem: Problem) => void): HeldBody
}

/** Creates the memory: a number of bytes and of turns, of which each organization has a part. */
export function createBodyMemory(): BodyMemory {
  const ofCallers = createByteBudget(OF_CALLERS)
  const ofStrangers = createByteBudget(OF_STRANGERS)
  const turns = new FairPlaces(TURNS)

  return {
    hold: (request, onEvicted) => {
      const caller = request.caller?.tenant.id ?? (request.isOperator ? OPERATOR : null)
      const budget: ByteBudget = caller === null ? ofStrangers : ofCallers
      const key = caller ?? clientNetwork(request) ?? request.ip
      const share = budget.open(key, (shortage) => onEvicted(tooMany(shortage)))
      let hasTurn = false
      return {
        reserve: (bytes) => {
          const shortage = share.reserve(bytes)
          if (shortage !== null) throw tooMany(shortage)
        },
        complete: () => share.complete(),
        takeTurn: async () => {
          await acquireTurn(turns, key)
          hasTurn = true
          if (!request.socket.destroyed) return
          throw new Problem('invalid_json', 'The connection was closed while the request waited for its turn')
        },
        release: () => {
          share.release()
          // Not at once: the next body would be read before the event loop serves anybody else.
          if (hasTurn) setImmediate(() => turns.release(key))
          hasTurn = false
        },
      }
    },
  }
}

async function acquireTurn(turns: FairPlaces, key: string): Promise<void> {
  try {
    await turns.acquire(key)
  } catch (error) {
    throw error instanceof NoPlaceError ? tooMany(error.shortage) : error
  }
}

function tooMany(shortage: Shortage): Problem {
  const texts = {
    own: 'Too many large bodies of yours are in progress: send them one by one',
    all: `Too many large bodies are in progress: try again in ${RETRY_SECONDS} s`,
  }
  return shortageProblem(shortage, texts, RETRY_SECONDS)
}
