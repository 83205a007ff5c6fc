import '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { authenticateSession, SESSION_MS, type Session } from '../../core/identity/sessions.js'
import { excerpt } from '../../lib/text/text.js'
import type { MemberRole, TeamMember } from '../../model/organizations/member.js'
import type { Scope } from '../../model/organizations/scope.js'
import { Problem } from '../../model/problem.js'
import { checkRate, checkTenant, type Gate } from './auth.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of a request to the console; null elsewhere. */
    memberSession: Session | null
  }
  interface FastifyContextConfig {
    /** The role that a member needs, if the scope is not enough. */
    role?: MemberRole
  }
}

/** For pages opened by http, for example on one's own machine. */
const PLAIN_COOKIE = { name: 'parley_session', path: '/console', secure: false }
/** For https: browsers accept a cookie of this name only from this host, not from others of its domain. */
const HOST_COOKIE = { name: '__Host-parley_session', path: '/', secure: true }
/** The cookie by which a device is known when its session has ended. */
const PLAIN_DEVICE_COOKIE = { name: 'parley_device', path: '/console', secure: false }
const HOST_DEVICE_COOKIE = { name: '__Host-parley_device', path: '/', secure: true }
/** Browsers keep a cookie 400 days at most. */
const DEVICE_SECONDS = 400 * 24 * 60 * 60
/** The member that the page believes to be signed in. */
const MEMBER_HEADER = 'x-parley-member'
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/** The checks of a console request before its body is read, in this order: session, role, rate, `tenantId`. */
export function createSessionGuard(ctx: Context, takeToken: Gate['takeToken']) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { session, caller, renewed } = await authenticateSession(ctx, sessionToken(request))
    request.caller = caller
    request.memberSession = session
    checkMember(session.member, request.headers[MEMBER_HEADER])
    if (renewed !== null || hasPlainCookieAlone(ctx, request)) {
      setSessionCookie(ctx, reply, renewed ?? (sessionToken(request) as string))
    }
    const { scope, role } = request.routeOptions.config
    checkRole(session.member, caller.scopes, scope, role)
    if (takeToken) checkRate(await takeToken(caller.tenant.id, caller.keyId), reply, 'Your account')
    checkTenant(caller, (request.query as Record<string, unknown>).tenantId)
  }
}

/**
 * Refuses requests that another site has a browser make: browsers send the origin of requests that change something.
 * Requests without it come from other programs, or from the same site because of the cookie's SameSite.
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
 * Refuses a request of a page whose member is no longer signed in: another tab may have signed in someone else, even of
 * another organization. Throws session_required.
 */
export function checkMember({ id }: TeamMember, believed: unknown): void {
  if (believed === undefined || believed === id) return
  throw new Problem('session_required', 'Another member has signed in in this browser: reload the page')
}

/** The session token of a request, if any. */
export function sessionToken({ cookies }: FastifyRequest): string | undefined {
  return cookies[HOST_COOKIE.name] ?? cookies[PLAIN_COOKIE.name]
}

/** True if the browser has the token under the old cookie name only. */
function hasPlainCookieAlone(ctx: Context, { cookies }: FastifyRequest): boolean {
  return isSecure(ctx) && cookies[HOST_COOKIE.name] === undefined
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

/**
 * Sets the cookie with a session's token. It sets the header at once, so that it reaches responses that are written
 * directly too.
 */
export function setSessionCookie(ctx: Context, reply: FastifyReply, token: string): void {
  const secure = isSecure(ctx)
  setCookie(reply, secure ? HOST_COOKIE : PLAIN_COOKIE, token, SESSION_MS / 1000)
  if (secure && reply.request.cookies[PLAIN_COOKIE.name] !== undefined) setCookie(reply, PLAIN_COOKIE, '', 0)
}

/** The token by which the device of a request is known, if any. */
export function deviceToken({ cookies }: FastifyRequest): string | undefined {
  return cookies[HOST_DEVICE_COOKIE.name] ?? cookies[PLAIN_DEVICE_COOKIE.name]
}

/** Sets the cookie by which the device is known. It stays when the session ends. */
export function setDeviceCookie(ctx: Context, reply: FastifyReply, token: string): void {
  setCookie(reply, isSecure(ctx) ? HOST_DEVICE_COOKIE : PLAIN_DEVICE_COOKIE, token, DEVICE_SECONDS)
}

/** Clears the session cookie. */
export function clearSessionCookie(ctx: Context, reply: FastifyReply): void {
  reply.removeHeader('set-cookie')
  setCookie(reply, isSecure(ctx) ? HOST_COOKIE : PLAIN_COOKIE, '', 0)
}

function isSecure(ctx: Context): boolean {
  return ctx.publicUrl().startsWith('https:')
}

function setCookie(
  reply: FastifyReply,
  { name, path, secure }: typeof PLAIN_COOKIE,
  value: string,
  maxAge: number,
): void {
  const rules = { path, maxAge, httpOnly: true, sameSite: 'strict', secure } as const
  reply.header('set-cookie', reply.server.serializeCookie(name, value, rules))
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
