import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { type Caller, isApiKey } from '../../core/identity/api-keys.js'
import { createTokenAuthenticator } from '../../core/identity/gateway-auth.js'
import { createGatewayKeyAuthenticator, type GatewayKey } from '../../core/identity/gateway-key.js'
import { instanceNotFound, requireInstance } from '../../core/instances/manage/find.js'
import { bearerToken, checkRate, checkScope, type Gate, tenantOf } from '../../http/access/auth.js'
import type { Instance } from '../../model/instances/instance.js'
import { Problem } from '../../model/problem.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The instance named in the path; null if the path names none. */
    instance: Instance | null
  }
  interface FastifyContextConfig {
    /** True for routes whose path names no instance but that an instance's token may call for its own data. */
    takesTokens?: boolean
    /** True for the routes that the gateway key opens. */
    takesGatewayKey?: boolean
  }
}

/** What the guard of the gateway needs. */
export interface GatewayGate extends Gate {
  /** The operator's key; null: there is none. */
  gatewayKey: GatewayKey | null
}

/**
 * Creates the check that runs before a body is read: key, scope, rate limit, access, instance, in this order. An
 * instance's token opens only the paths that name this instance. For every other name it gets the same 404 as for an
 * unknown one, so that it cannot find out which names exist.
 */
export function createGatewayGuard(ctx: Context, { authenticate, takeToken, gatewayKey }: GatewayGate) {
  const authenticateToken = createTokenAuthenticator(ctx)
  const authenticateGatewayKey = createGatewayKeyAuthenticator(ctx, gatewayKey)

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const key = presentedKey(request)
    const operator = await authenticateGatewayKey(key)
    const caller = operator ?? (await (isApiKey(key) ? authenticate(key) : authenticateToken(key)))
    request.caller = caller
    checkScope(caller, 'gateway')
    if (takeToken) checkRate(await takeToken(caller.tenant.id, caller.keyId), reply)
    if (operator !== null) checkGatewayKey(request)
    if (!namesInstance(request)) return checkReach(caller, request)
    request.instance = await findNamed(ctx, caller, instanceNameOf(request))
  }
}

/** The decoded name of the instance in the path. */
export function instanceNameOf(request: FastifyRequest): string {
  return (request.params as { instance: string }).instance
}

/** Whether the request is authenticated with an instance's token. Such a request sees only this instance's data. */
export function usesInstanceToken({ caller }: FastifyRequest): boolean {
  return caller !== null && caller.instance !== null
}

/** The instance in the path, as it was when the request was authenticated. */
export async function requireRouteInstance(ctx: Context, request: FastifyRequest): Promise<Instance> {
  return request.instance ?? findRouteInstance(ctx, request)
}

/** The instance in the path, read again. Throws instance_not_found if it was deleted in the meantime. */
export function findRouteInstance(ctx: Context, request: FastifyRequest): Promise<Instance> {
  return requireInstance(ctx, tenantOf(request).id, instanceNameOf(request))
}

/** The header `apikey`, or else the bearer token. Throws authorization_required. */
function presentedKey(request: FastifyRequest): string {
  const { apikey } = request.headers
  return typeof apikey === 'string' && apikey !== '' ? apikey : bearerToken(request)
}

function namesInstance(request: FastifyRequest): boolean {
  return instanceNameOf(request) !== undefined
}

function checkReach({ instance }: Caller, request: FastifyRequest): void {
  if (instance === null || request.routeOptions.config.takesTokens) return
  throw new Problem(
    'forbidden',
    "An instance's token gives access to that instance only: use an API key of the organization",
  )
}

/** Before the instance is looked up, so that every name gets the same answer. */
function checkGatewayKey(request: FastifyRequest): void {
  if (request.routeOptions.config.takesGatewayKey) return
  throw new Problem(
    'forbidden',
    'PARLEY_GATEWAY_KEY creates and lists instances only: use the token of the instance (hash in the answer of instance/create), or an API key of the organization',
  )
}

async function findNamed(ctx: Context, { tenant, instance }: Caller, name: string): Promise<Instance> {
  if (instance !== null && instance.name !== name) throw instanceNotFound(name)
  return requireInstance(ctx, tenant.id, name)
}
