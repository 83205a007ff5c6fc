import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { NumberFigures } from '../core/organizations/connecting/figures.js'
import { equalInConstantTime } from '../lib/crypto/signature.js'
import { packageVersion } from '../lib/files/package-version.js'
import { Problem } from '../model/problem.js'
import { bearerToken } from './access/auth.js'
import { showProcess } from './metrics.js'

/**
 * The checks that must pass before the service gets traffic. A check returns null or the problem; it throws if it
 * does not know.
 */
export type ReadinessChecks = Record<string, () => Promise<string | null>>

export interface HealthOptions {
  checks: ReadinessChecks
  /** Counts the numbers of all organizations. */
  findNumbers: () => Promise<NumberFigures>
  /** Whether a request failed in the last minute because a disk was full. */
  isDiskFull: () => boolean
  registry: Registry
  log: Logger
  /** Opens /metrics to other machines; undefined: to none. */
  metricsToken: string | undefined
}

/** `/healthz`, `/readyz` and `/metrics` of every process. They contain no data of tenants. */
export function healthRoutes(options: HealthOptions): FastifyPluginAsync {
  const { checks, findNumbers, isDiskFull, registry, log, metricsToken } = options
  const hidden = { schema: { hide: true } as object }
  const findProblems = createProblemFinder(checks, log)
  return async (server) => {
    server.get('/healthz', hidden, async () => ({ status: 'ok', version: packageVersion }))
    server.get('/readyz', hidden, async (_request, reply) => {
      const problems = await findProblems()
      const ready = Object.keys(problems).length === 0
      reply.code(ready ? 200 : 503)
      if (!ready) return { status: 'not ready', problems }
      // A number that fails is its organization's trouble, and no reason to keep traffic from the process.
      const numbers = await findNumbers().then(
        ({ states }) => states,
        () => undefined,
      )
      // Nor is a full disk that all processes share: reads work, and the answers to writes say what is wrong.
      return { status: 'ready', numbers, ...(isDiskFull() && { problems: { disk: NO_ROOM } }) }
    })
    server.get('/metrics', hidden, async (request, reply) => {
      requireMetricsAccess(request, metricsToken)
      showProcess(registry)
      reply.type(registry.contentType)
      return reply.send(await registry.metrics())
    })
  }
}

const NO_ROOM =
  'a disk was full in the last minute, and what could not be stored was answered with 503: make room, if nobody has'

/** The public text of a check that threw. */
const FAILED = 'cannot be used at the moment: the log of this process has the reason'

/**
 * Creates the function that runs the checks and returns the problems by name. Error texts may contain host and user
 * names, so they go to the log only, once per change.
 */
function createProblemFinder(checks: ReadinessChecks, log: Logger): () => Promise<Record<string, string>> {
  const logged = new Map<string, string>()

  async function run(name: string, check: () => Promise<string | null>): Promise<[string, string | null]> {
    try {
      const problem = await check()
      logged.delete(name)
      return [name, problem]
    } catch (error) {
      const { message } = error as Error
      if (logged.get(name) !== message) log.warn({ err: error, check: name }, 'a readiness check failed')
      logged.set(name, message)
      return [name, FAILED]
    }
  }

  return async () => {
    const results = await Promise.all(Object.entries(checks).map(([name, check]) => run(name, check)))
    return Object.fromEntries(results.filter((result): result is [string, string] => result[1] !== null))
  }
}

/** A direct connection from this machine needs no token, one through a proxy does. Throws what the request lacks. */
function requireMetricsAccess(request: FastifyRequest, token: string | undefined): void {
  const { forwarded, 'x-forwarded-for': forwardedFor, authorization } = request.headers
  const isOwn = forwarded === undefined && forwardedFor === undefined && isLoopback(request.socket.remoteAddress)
  if (isOwn) return
  if (authorization === undefined) {
    throw new Problem(
      'authorization_required',
      'Requests to /metrics from another machine need the header "Authorization: Bearer <PARLEY_METRICS_TOKEN>"',
    )
  }
  if (token !== undefined && equalInConstantTime(bearerToken(request), token)) return
  throw new Problem('invalid_api_key', 'The token is not PARLEY_METRICS_TOKEN, or this process has none')
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\..+)$/.test(address)
}
