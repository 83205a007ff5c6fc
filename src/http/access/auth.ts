import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import type { Caller } from '../../core/identity/api-keys.js'
import type { RateDecision } from '../../core/requests/rate-limit.js'
import { createTokenBuckets } from '../../lib/async/token-buckets.js'
import { equalInConstantTime } from '../../lib/crypto/signature.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { Scope } from '../../model/organizations/scope.js'
import { Problem } from '../../model/problem.js'
import { clientNetwork } from './client-address.js'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    /** Whether it came with the admin token. */
    isOperator: boolean
  }
  interface FastifyContextConfig {
    /** The scope that the route requires. */
    scope?: Scope
  }
}

/** What the guard of an interface needs. */
export interface Gate {
  authenticate: (key: string) => Promise<Caller>
  /** Null: no limit. */
  takeToken: ((organizationId: string, keyId: string) => Promise<RateDecision>) | null
}

/** The bearer token of a request. Throws authorization_required if there is none. */
export function bearerToken(request: FastifyRequest): string {
  const token = /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined) return token
  throw new Problem('authorization_required', 'Send the header "Authorization: Bearer <API_KEY>" with your API key')
}

/** The checks before the body is read, in this order: key, scope, rate, `tenantId`. */
export function createGuard({ authenticate, takeToken }: Gate) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const caller = await authenticate(bearerToken(request))
    request.caller = caller
    checkScope(caller, request.routeOptions.config.scope)
    if (takeToken) checkRate(await takeToken(caller.tenant.id, caller.keyId), reply)
    checkTenant(caller, (request.query as Record<string, unknown>).tenantId)
  }
}

/** Throws insufficient_scope. */
export function checkScope({ scopes }: Caller, needed: Scope | undefined): void {
  if (needed === undefined || scopes.includes(needed)) return
  throw new Problem(
    'insufficient_scope',
    `This needs an API key with the scope ${needed}; yours has ${scopes.join(', ') || 'none'}`,
  )
}

/** Sets the headers of the rate limit. Throws too_many_requests. */
export function checkRate(decision: RateDecision, reply: FastifyReply, who = 'This API key'): void {
  reply.headers({
    'ratelimit-limit': decision.limit,
    'ratelimit-remaining': decision.remaining,
    'ratelimit-reset': decision.resetSeconds,
  })
  if (decision.allowed) return
  throw new Problem(
    'too_many_requests',
    `${who} has used up its requests: try again in ${decision.retryAfterSeconds} s`,
    {
      retry_after: decision.retryAfterSeconds,
    },
  )
}

/** The organization of an authenticated request. */
export function tenantOf(request: FastifyRequest): Tenant {
  if (!request.caller) throw new Error('the route has no guard')
  return request.caller.tenant
}

/**
 * The member in whose name a message is sent: the one that a key's request names, if any; a signed-in member can only
 * send in their own name. Throws forbidden.
 */
export function senderOf({ caller }: FastifyRequest, memberId: string | null | undefined): string | null {
  const own = caller?.memberId ?? null
  if (own === null) return memberId ?? null
  if (memberId == null || memberId.toLowerCase() === own) return own
  throw new Problem(
    'forbidden',
    `memberId ${memberId} is another member: leave it out to send the message in your name`,
  )
}

/** Checks a request of the operator. Throws invalid_api_key, too_many_requests. */
export type AdminGuard = (request: FastifyRequest) => Promise<void>

/** Wrong tokens per network: this many at once, then two a minute. */
const GUESSES = { burst: 300, refillMs: 30_000, maxKeys: 10_000 }

/**
 * Guards the operator's interface with the admin token, compared in constant time. After too many wrong tokens a
 * network is refused even with the right one.
 */
export function createAdminGuard({ clock, log }: Pick<Context, 'clock' | 'log'>, adminToken: string): AdminGuard {
  const guesses = createTokenBuckets(GUESSES, clock)
  return async (request) => {
    const token = bearerToken(request)
    const network = clientNetwork(request) ?? request.ip
    const waitMs = guesses.waitMs(network)
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1000)
      throw new Problem('too_many_requests', `Too many wrong admin tokens: try again in ${seconds} s`, {
        retry_after: seconds,
      })
    }
    if (equalInConstantTime(token, adminToken)) {
      request.isOperator = true
      return
    }
    guesses.take(network)
    if (guesses.waitMs(network) > 0) log.warn({ network }, 'too many wrong admin tokens come from this address')
    throw new Problem('invalid_api_key', 'The admin token is wrong: it is PARLEY_ADMIN_TOKEN, or in the data folder')
  }
}

/**
 * The message is the same for every other slug, existing or not, so it does not reveal which tenants exist. An empty one
 * counts as not given, as every parameter does.
 */
export function checkTenant({ tenant }: Caller, tenantId: unknown): void {
  if (tenantId === undefined || tenantId === '' || tenantId === tenant.slug) return
  throw new Problem('invalid_api_key', 'API key does not belong to the organization that tenantId names')
}
