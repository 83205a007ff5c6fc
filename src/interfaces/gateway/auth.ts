import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { type Caller, isApiKey } from '../../core/identity/api-keys.js'
import { createTokenAuthenticator } from '../../core/identity/gateway-auth.js'
import { instanceNotFound, requireInstance } from '../../core/instances/manage/find.js'
import { bearerToken, checkRate, checkScope, type Gate, tenantOf } from '../../http/auth.js'
import type { Instance } from '../../model/instances/instance.js'
import { Problem } from '../../model/problem.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The instance that the path names. */
    instance: Instance | null
  }
  interface FastifyContextConfig {
    /** Names no instance, and answers the token of one with what is its own. */
    takesTokens?: boolean
  }
}

/**
 * The checks before a body is read: key, scope, rate, what the key opens, the instance that the path names (contract 5). The
 * token of an instance opens the paths that name it; every other name is as unknown to it as one that there is not.
 */
export function createGatewayGuard(ctx: Context, { authenticate, takeToken }: Gate) {
  const authenticateToken = createTokenAuthenticator(ctx)

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const key = presentedKey(request)
    const caller = await (isApiKey(key) ? authenticate(key) : authenticateToken(key))
    request.caller = caller
    checkScope(caller, 'gateway')
    if (takeToken) checkRate(await takeToken(caller.tenant.id, caller.keyId), reply)
    if (!namesInstance(request)) return checkReach(caller, request)
    request.instance = await findNamed(ctx, caller, instanceNameOf(request))
  }
}

/** The name of the instance in the path, decoded. */
export function instanceNameOf(request: FastifyRequest): string {
  return (request.params as { instance: string }).instance
}

/** Whether a request comes with the token of an instance, which opens what is that instance's alone. */
export function usesInstanceToken({ caller }: FastifyRequest): boolean {
  return caller !== null && caller.instance !== null
}

/** The instance that the path names, and that the key opens, as it was when the request came. */
export async function requireRouteInstance(ctx: Context, request: FastifyRequest): Promise<Instance> {
  return request.instance ?? findRouteInstance(ctx, request)
}

/** The same as it is now. Throws instance_not_found where it has been deleted meanwhile. */
export function findRouteInstance(ctx: Context, request: FastifyRequest): Promise<Instance> {
  return requireInstance(ctx, tenantOf(request).id, instanceNameOf(request))
}

/** The header `apikey`, else the bearer token. Throws authorization_required. */
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
    'The token of an instance opens that instance alone: use an API key of the organization',
  )
}

async function findNamed(ctx: Context, { tenant, instance }: Caller, name: string): Promise<Instance> {
  if (instance !== null && instance.name !== name) throw instanceNotFound(name)
  return requireInstance(ctx, tenant.id, name)
}
