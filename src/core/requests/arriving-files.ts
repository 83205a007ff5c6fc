import { type Readable, Transform } from 'node:stream'
import type { Context } from '../../context.js'
import type { ByteLimits } from '../../lib/async/byte-budget.js'
import type { Shortage } from '../../lib/async/fair-places.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { Problem } from '../../model/problem.js'
import { shortageProblem } from '../../model/shortage.js'

/** Bytes on disk of files that are arriving or have just arrived. */
export const ARRIVING_FILES: ByteLimits = { capacity: 16_384 * MEBIBYTE, ofOneKey: 8_192 * MEBIBYTE, floor: 0 }
const RETRY_SECONDS = 5

/**
 * Passes the stream of a file to `work`, which writes it to the disk and removes it. Until the work ends, its bytes
 * count for the organization. A file that arrives slowly takes only these, so it may last as long as it needs. Throws
 * too_many_requests or service_unavailable without room, and what the work throws.
 */
export async function withArriving<Result>(
  { limits }: Pick<Context, 'limits'>,
  organizationId: string,
  source: Readable,
  work: (arriving: Readable) => Promise<Result>,
): Promise<Result> {
  let refused: Problem | null = null
  const refuse = (shortage: Shortage) => {
    refused = tooMany(shortage)
    arriving.destroy(refused)
  }
  const share = limits.arrivingFiles.open(organizationId, refuse)
  let bytes = 0
  const arriving = new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      bytes += chunk.length
      const shortage = share.reserve(bytes)
      if (shortage === null) next(null, chunk)
      else refuse(shortage)
    },
    flush: (next) => {
      share.complete()
      next()
    },
  })
  source.once('error', (error) => arriving.destroy(error))
  source.pipe(arriving)
  // After the pipe has let go of it: what a refused client still sends is dropped, so that it reads the answer.
  arriving.once('close', () => source.resume()).on('error', () => undefined)
  try {
    return await work(arriving)
  } catch (error) {
    throw refused ?? error
  } finally {
    share.release()
    arriving.destroy()
  }
}

function tooMany(shortage: Shortage): Problem {
  const texts = {
    own: 'Too many files of the organization are in progress: send them one by one',
    all: `Too many files are in progress: try again in ${RETRY_SECONDS} s`,
  }
  return shortageProblem(shortage, texts, RETRY_SECONDS)
}
