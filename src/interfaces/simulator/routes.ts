import type { FastifyPluginAsync } from 'fastify'
import type { AdminGuard } from '../../http/auth.js'
import { exchangeOnce } from '../../lib/http/exchange.js'
import { MEBIBYTE } from '../../lib/text/units.js'

/** Where the simulator's control is, and the token that it asks for. */
export interface SimulatorAddress {
  controlUrl: string
  token: string | null
}

const BODY_LIMIT = 4 * MEBIBYTE
const MAX_ANSWER_BYTES = 64 * MEBIBYTE
/** A simulated message answers when the callback has arrived, and /_sim/idle when all have. */
const TIMEOUT_MS = 90_000

/** `/_sim`: passes the control of the built-in simulator on, for those who hold the admin token (contract 2, 6). */
export function simulatorRoutes({ controlUrl, token }: SimulatorAddress, guard: AdminGuard): FastifyPluginAsync {
  return async (server) => {
    server.addHook('onRequest', guard)
    server.removeAllContentTypeParsers()
    server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
      done(null, body),
    )
    server.all('/*', { schema: { hide: true } as object }, async (request, reply) => {
      const path = request.url.slice('/_sim'.length)
      const headers = {
        'content-type': request.headers['content-type'] ?? 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      }
      const body = Buffer.isBuffer(request.body) && request.body.length > 0 ? request.body : null
      const forwarded = { method: request.method, headers, body }
      const answer = await exchangeOnce(controlUrl + path, forwarded, TIMEOUT_MS, MAX_ANSWER_BYTES)
      reply.code(answer.statusCode).type('application/json')
      return reply.send(answer.body)
    })
  }
}
