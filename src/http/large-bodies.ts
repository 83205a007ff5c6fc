import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import type { Context } from '../context.js'
import { borrow } from '../lib/async/borrow.js'
import { MEBIBYTE } from '../lib/text/units.js'
import { tenantOf } from './access/auth.js'
import { BODY_LIMIT } from './server.js'

/** The maximum size of the bodies that name the recipients of a broadcast, in bytes. */
const LARGE_BODY_LIMIT = 32 * MEBIBYTE

/**
 * The options of a route that takes JSON bodies of up to 32 MB. Their values take much memory, so only a few are
 * handled at the same time, and fewer of one organization; further ones fail with too_many_requests before they are
 * read.
 */
export function takesLargeBodies({ limits: { largeBodies } }: Context) {
  const preParsing = async (request: FastifyRequest, reply: FastifyReply, payload: RequestPayload) => {
    if (Number(request.headers['content-length']) <= BODY_LIMIT) return payload
    const place = await borrow<void>((use) => largeBodies.pass(tenantOf(request).id, () => use()))
    if (reply.raw.destroyed) await place.release()
    else reply.raw.once('close', () => void place.release())
    return payload
  }
  return { bodyLimit: LARGE_BODY_LIMIT, preParsing }
}
