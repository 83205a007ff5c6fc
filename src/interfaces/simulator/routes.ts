import type { FastifyPluginAsync } from 'fastify'
import type { AdminGuard } from '../../http/access/auth.js'
import { exchangeOnce } from '../../lib/http/exchange.js'
import { MEBIBYTE } from '../../lib/text/units.js'

/** The URL of the simulator's control API, and its token; null if it needs none. */
export interface SimulatorAddress {
  controlUrl: string
  token: string | null
}

const BODY_LIMIT = 4 * MEBIBYTE
const MAX_ANSWER_BYTES = 64 * MEBIBYTE
/** Long, since a simulated message responds after its callback was delivered, and /_sim/idle after all were. */
const TIMEOUT_MS = 90_000

/** `/_sim`: forwards requests to the control API of the built-in simulator. Needs the admin token. */
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
