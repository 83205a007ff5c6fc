import '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.js'
import { authenticateSession, SESSION_MS, type Session } from '../core/sessions.js'
import { excerpt } from '../lib/text.js'
import type { MemberRole, TeamMember } from '../model/member.js'
import { Problem } from '../model/problem.js'
import type { Scope } from '../model/scope.js'
import { checkRate, checkTenant, type Gate } from './auth.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of a request to the console; null elsewhere. */
    memberSession: Session | null
  }
  interface FastifyContextConfig {
    /** Which role a member must have, where that says more than a scope. */
    role?: MemberRole
  }
}

const COOKIE = 'parley_session'
const COOKIE_PATH = '/console'
/** Whom the page believes to be signed in. */
const MEMBER_HEADER = 'x-parley-member'
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/** The checks of a request to the console before its body is read, in the order of those of keys: session, role, rate, `tenantId`. */
export function createSessionGuard(ctx: Context, takeToken: Gate['takeToken']) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { session, caller, renewed } = await authenticateSession(ctx, sessionToken(request))
    request.caller = caller
    request.memberSession = session
    checkMember(session.member, request.headers[MEMBER_HEADER])
    if (renewed !== null) setSessionCookie(ctx, reply, renewed)
    const { scope, role } = request.routeOptions.config
    checkRole(session.member, caller.scopes, scope, role)
    if (takeToken) checkRate(await takeToken(caller.tenant.id, caller.keyId), reply, 'Your account')
    checkTenant(caller, (request.query as Record<string, unknown>).tenantId)
  }
}

/**
 * Refuses what another site has a browser do in a member's name: browsers say where a request comes from that changes something.
 * Requests that say nothing come from no browser, or are of the same site, as the cookie's SameSite has it.
 */
export function createOriginGuard(publicUrl: () => string) {
  return async (request: FastifyRequest): Promise<void> => {
    const { origin } = request.headers
    if (origin === undefined || SAFE_METHODS.includes(request.method)) return
    if (URL.canParse(origin)) {
      const from = new URL(origin)
      if (from.host === request.host.toLowerCase() || from.origin === new URL(publicUrl()).origin) return
    }
    throw new Problem(
      'forbidden',
      `The origin "${excerpt(origin)}" may not do this: open the console at ${publicUrl()}/console, which is what PARLEY_PUBLIC_URL says`,
    )
  }
}

/**
 * Refuses what a page asks in the name of somebody who is not signed in any more: another tab of the browser may have signed in
 * somebody else, perhaps of another organization. Throws session_required.
 */
export function checkMember({ id }: TeamMember, believed: unknown): void {
  if (believed === undefined || believed === id) return
  throw new Problem('session_required', 'Somebody else has signed in in this browser meanwhile: load the page anew')
}

/** The token of the session by which a request comes, if any. */
export function sessionToken(request: FastifyRequest): string | undefined {
  return request.cookies[COOKIE]
}

/** The session of an authenticated request. */
export function sessionOf(request: FastifyRequest): Session {
  if (!request.memberSession) throw new Error('the route has no session guard')
  return request.memberSession
}

/** The member who makes an authenticated request. */
export function memberOf(request: FastifyRequest): TeamMember {
  return sessionOf(request).member
}

/** Has the browser keep a session's token. As a header at once, so that it reaches answers that are written by hand too. */
export function setSessionCookie(ctx: Context, reply: FastifyReply, token: string): void {
  reply.header('set-cookie', cookie(ctx, reply, token, SESSION_MS / 1000))
}

/** Has the browser forget it. */
export function clearSessionCookie(ctx: Context, reply: FastifyReply): void {
  reply.removeHeader('set-cookie')
  reply.header('set-cookie', cookie(ctx, reply, '', 0))
}

function cookie(ctx: Context, { server }: FastifyReply, value: string, maxAge: number): string {
  return server.serializeCookie(COOKIE, value, {
    path: COOKIE_PATH,
    maxAge,
    httpOnly: true,
    sameSite: 'strict',
    secure: ctx.publicUrl().startsWith('https:'),
  })
}

function checkRole(
  { role }: TeamMember,
  scopes: readonly Scope[],
  scope: Scope | undefined,
  neededRole: MemberRole | undefined,
): void {
  if (neededRole !== undefined && role !== neededRole) {
    throw new Problem('insufficient_scope', `This is for the role ${neededRole}, and yours is ${role}`)
  }
  if (scope !== undefined && !scopes.includes(scope)) {
    throw new Problem('insufficient_scope', `Your role ${role} does not include ${scope}: ask an owner of the team`)
  }
}
