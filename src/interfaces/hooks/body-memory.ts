import type { ServerResponse } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { createByteBudget } from '../../lib/async/byte-budget.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import { Problem } from '../../model/problem.js'

/** Nearly all webhooks are smaller. They have room of their own, which large ones cannot fill. */
const SMALL_BYTES = 64 * 1_024
/** For each of the two. */
const BUDGET_BYTES = 32 * MEBIBYTE
/** What a request takes however small its body is. */
const MIN_CHARGE_BYTES = 4 * 1_024
const RETRY_SECONDS = 2

/**
 * Makes the function that bounds the memory of bodies whose senders are not known yet. What it returns in place of a body's stream
 * breaks off with service_unavailable when there is no room. The room is held until the response has been sent.
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
    `As many webhooks as can be are on their way already: try again in ${RETRY_SECONDS} s`,
    { retry_after: RETRY_SECONDS },
  )
}
