import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { createFirstSeen } from '../lib/async/first-seen.js'
import { Problem } from '../model/problem.js'
import { compileUnknownFields, describeUnknown, MAX_UNKNOWN, type UnknownField } from '../model/unknown-fields.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** One sentence per unknown parameter or field, for the answer; null: none. */
    warnings: readonly string[] | null
  }
  interface FastifyContextConfig {
    /** How to treat parameters and fields that the route's schema does not know. */
    unknown?: { policy: 'report' | 'refuse'; find: (request: FastifyRequest) => Unknown[] }
  }
}

/** An unknown parameter or field of a request. */
type Unknown = UnknownField & { is: 'parameter' | 'field' }

const MAX_KEYS = 1_000
const MAX_LOGGED_PER_KEY = 100

/**
 * Ignores unknown parameters and fields on routes registered from now on, lists them in the answer's `warnings` (also
 * of errors), and logs each once per key. One that says when to act is refused with invalid_field. Only JSON objects have warnings; files and streams have none.
 */
export function reportUnknown(server: FastifyInstance, log: Logger): void {
  lookForUnknown(server, 'report')
  server.decorateRequest('warnings', null)
  const isNews = createFirstSeen(MAX_KEYS, MAX_LOGGED_PER_KEY)
  server.addHook('preValidation', (request, _reply, done) => {
    const unknown = findUnknown(request, 'report')
    const time = unknown.find(({ isTime }) => isTime)
    if (time) return done(ignoredTime(time))
    if (unknown.length > 0) {
      request.warnings = unknown.slice(0, MAX_UNKNOWN).map((one) => describeUnknown(one.is, one, ' and was ignored'))
      logNews(request, unknown.slice(0, MAX_UNKNOWN))
    }
    done()
  })
  server.addHook('preSerialization', ({ warnings }, _reply, payload, done) => {
    if (warnings === null) return done(null, payload)
    // The stored report of an import contains them already.
    const all = new Set([...((payload as { warnings?: string[] }).warnings ?? []), ...warnings])
    done(null, { ...(payload as object), warnings: [...all] })
  })

  function logNews({ caller, routeOptions: { method, url } }: FastifyRequest, unknown: Unknown[]): void {
    if (!caller) return
    const { keyId, tenant } = caller
    for (const { is, path, place } of unknown) {
      if (!isNews(keyId, `${method} ${url} ${place}`)) continue
      log.info({ organizationId: tenant.id, keyId, route: `${method} ${url}`, [is]: path }, `unknown ${is} ignored`)
    }
  }
}

/**
 * Refuses unknown parameters and fields on routes registered from now on with invalid_parameter or invalid_field,
 * except on routes for which `reportUnknown` is called on an inner server.
 */
export function refuseUnknown(server: FastifyInstance, knownParameters: readonly string[] = []): void {
  lookForUnknown(server, 'refuse', knownParameters)
  server.addHook('preValidation', (request, _reply, done) => {
    const [first] = findUnknown(request, 'refuse')
    if (first === undefined) return done()
    done(new Problem(`invalid_${first.is}`, describeUnknown(first.is, first)))
  })
}

/** Ignoring it would send to people at once what was meant for later. */
function ignoredTime({ is, path, nearest }: Unknown): Problem {
  const advice = nearest === null ? 'leave it out, since this happens at once' : `use ${nearest}`
  return new Problem('invalid_field', `The ${is} ${path} is not known here: ${advice}`)
}

function findUnknown(request: FastifyRequest, policy: 'report' | 'refuse'): Unknown[] {
  const { unknown } = request.routeOptions.config
  return unknown?.policy === policy ? unknown.find(request) : []
}

/** The policy of the innermost server applies. */
function lookForUnknown(
  server: FastifyInstance,
  policy: 'report' | 'refuse',
  knownParameters: readonly string[] = [],
): void {
  const guarded = Object.fromEntries(knownParameters.map((name) => [name, {}]))
  server.addHook('onRoute', (route) => {
    const { querystring, body = { properties: {} } } = (route.schema ?? {}) as RouteSchema
    const inQuery = compileUnknownFields({ properties: { ...guarded, ...querystring?.properties } })
    // Files have no fields.
    const inBody = compileUnknownFields(route.config?.contentType === undefined ? body : {})
    const find = (request: FastifyRequest): Unknown[] => {
      const parameters = inQuery(request.query).map((one) => ({ ...one, is: 'parameter' as const }))
      const fields = inBody(request.body).map((one) => ({ ...one, is: 'field' as const }))
      return [...parameters, ...fields]
    }
    route.config = { ...route.config, unknown: { policy, find } }
  })
}

interface RouteSchema {
  querystring?: { properties?: object }
  body?: object
}
