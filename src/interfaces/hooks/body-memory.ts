import type { ServerResponse } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { clientNetwork } from '../../http/access/client-address.js'
import { type ByteLimits, createByteBudget } from '../../lib/async/byte-budget.js'
import { createLruCache } from '../../lib/async/lru-cache.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'

/** Nearly all bodies are smaller. They have a separate budget, which large ones cannot use up. */
const SMALL_BYTES = 64 * 1_024
/** Of each budget. A share takes a minimum: a request needs memory in addition to its body. */
const LIMITS: ByteLimits = { capacity: 32 * MEBIBYTE, ofOneKey: 24 * MEBIBYTE, floor: 4 * 1_024 }
/** The networks of the upstream and of storefronts are a few hundred. */
const MAX_KNOWN = 1_000
const RETRY_SECONDS = 2

/** The memory for bodies of senders that are not authenticated yet. */
export interface HookMemory {
  /**
   * Wraps the stream of a body. The wrapped stream fails with service_unavailable if there is no room. Memory is charged
   * until the response has been sent.
   */
  bound(request: FastifyRequest, body: Readable, response: ServerResponse): Readable
  /** Notes that a request was signed: large bodies of its network have a budget that strangers cannot use up. */
  know(request: FastifyRequest): void
}

export function createHookMemory(): HookMemory {
  const small = createByteBudget(LIMITS)
  const large = createByteBudget(LIMITS)
  const largeOfKnown = createByteBudget(LIMITS)
  const known = createLruCache<true>(MAX_KNOWN)

  return {
    bound: (request, body, response) => {
      const network = networkOf(request)
      let length = 0
      const bounded = new Transform({
        transform: (chunk: Buffer, _encoding, next) => {
          length += chunk.length
          if (length > SMALL_BYTES && length - chunk.length <= SMALL_BYTES) {
            share.release()
            share = (known.get(network) ? largeOfKnown : large).open(network, giveUp)
          }
          if (share.reserve(length) === null) next(null, chunk)
          else giveUp()
        },
        flush: (next) => {
          share.complete()
          next()
        },
      })
      const giveUp = () => void bounded.destroy(outOfMemory())
      let share = small.open(network, giveUp)
      response.once('close', () => share.release())
      body.once('error', (error) => bounded.destroy(error))
      return body.pipe(bounded)
    },
    know: (request) => known.set(networkOf(request), true),
  }
}

/** The network of a sender, which stands for the sender until the signature is verified. */
export function networkOf(request: FastifyRequest): string {
  return clientNetwork(request) ?? request.ip
}

function outOfMemory(): Problem {
  return new Problem(
    'service_unavailable',
    `Too many webhooks are being received at the same time: try again in ${RETRY_SECONDS} s`,
    { retry_after: RETRY_SECONDS },
  )
}
