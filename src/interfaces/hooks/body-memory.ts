import type { ServerResponse } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { createByteBudget } from '../../lib/async/byte-budget.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'

/** Nearly all bodies are smaller. They have a separate budget, which large ones cannot use up. */
const SMALL_BYTES = 64 * 1_024
/** Size of each of the two budgets. */
const BUDGET_BYTES = 32 * MEBIBYTE
/** The minimum charge of a request: it needs memory in addition to its body. */
const MIN_CHARGE_BYTES = 4 * 1_024
const RETRY_SECONDS = 2

/**
 * Creates a function that bounds the memory for bodies of senders that are not authenticated yet. It wraps the stream
 * of a body. The wrapped stream fails with service_unavailable if the budget is exhausted. Memory is charged until the
 * response has been sent.
 */
export function createBodyMemoryLimit() {
  const small = createByteBudget(BUDGET_BYTES, MIN_CHARGE_BYTES)
  const large = createByteBudget(BUDGET_BYTES, MIN_CHARGE_BYTES)

  return (body: Readable, response: ServerResponse): Readable => {
    let length = 0
    const bounded = new Transform({
      transform: (chunk: Buffer, _encoding, next) => {
        length += chunk.length
        if (length > SMALL_BYTES && length - chunk.length <= SMALL_BYTES) {
          share.release()
          share = large.open(giveUp)
        }
        if (share.reserve(length)) next(null, chunk)
        else giveUp()
      },
      flush: (next) => {
        share.complete()
        next()
      },
    })
    const giveUp = () => bounded.destroy(outOfMemory())
    let share = small.open(giveUp)
    response.once('close', () => share.release())
    body.once('error', (error) => bounded.destroy(error))
    return body.pipe(bounded)
  }
}

function outOfMemory(): Problem {
  return new Problem(
    'service_unavailable',
    `Too many webhooks are being received at the same time: try again in ${RETRY_SECONDS} s`,
    { retry_after: RETRY_SECONDS },
  )
}
