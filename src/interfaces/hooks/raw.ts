import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MEBIBYTE } from '../../lib/units.js'

/** How large a webhook may be, in bytes (contract 4). */
export const BODY_LIMIT = 4 * MEBIBYTE

/** Takes bodies of every type as they come: the signatures are over their bytes. */
export function takeRawBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
    done(null, body),
  )
}

/** The bytes of a request; none where it has no body. */
export function readBytes({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** The header of this name, in lower case; undefined where there is none. */
export function readHeader({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
