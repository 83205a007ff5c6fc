import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../context.js'
import { changePassword } from '../../core/identity/change-password.js'
import { authenticateSession, endSession, type Session } from '../../core/identity/sessions.js'
import { knownDeviceToken, type SignInOrigin, signIn, signInByLink } from '../../core/identity/sign-in.js'
import { markNow } from '../../core/live/mark.js'
import { auditAccess } from '../../http/access/audit.js'
import { tenantOf } from '../../http/access/auth.js'
import { areaOf, clientNetwork } from '../../http/access/client-address.js'
import {
  clearSessionCookie,
  deviceToken,
  sessionOf,
  sessionToken,
  setDeviceCookie,
  setSessionCookie,
} from '../../http/access/session.js'
import { presentTeamMember } from '../../model/organizations/member.js'
import { Password } from '../../model/organizations/operator-input.js'
import { presentOrganization, type Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { ConsoleServer } from './server.js'

/** These values are only compared, never stored, so an odd one is wrong rather than malformed. */
const Given = (words: string) => Type.String({ minLength: 1, maxLength: 1_000, 'x-missing': words })

const SignIn = Type.Object({
  organization: Given('organization is required: the short name of your organization'),
  email: Given('email is required: the address under which you are in the team'),
  password: Given('password is required'),
})

const SignInByLink = Type.Object({ token: Given('token is required: what the link has after its #') })

const ChangePassword = Type.Object({
  current_password: Type.Optional(Type.String({ maxLength: 1_000 })),
  new_password: Password,
})

/** Anybody can send these bodies. */
const SIGN_IN_LIMIT = 8_192

/** Signing in, without a session: `POST /session`, `POST /session/link`. */
export function signInRoutes(server: ConsoleServer, ctx: Context): void {
  server.post('/session', { bodyLimit: SIGN_IN_LIMIT, schema: { body: SignIn } }, async (request, reply) =>
    begin(ctx, request, reply, await signIn(ctx, request.body, originOf(request))),
  )

  server.post('/session/link', { bodyLimit: SIGN_IN_LIMIT, schema: { body: SignInByLink } }, async (request, reply) =>
    begin(ctx, request, reply, await signInByLink(ctx, request.body.token)),
  )
}

/** A member's own session: `GET` and `DELETE /session`, `PUT /session/password`. */
export function sessionRoutes(server: ConsoleServer, ctx: Context): void {
  server.get('/session', async (request) => answer(ctx, tenantOf(request), sessionOf(request)))

  server.delete('/session', async (request, reply) => {
    await endSession(ctx, tenantOf(request).id, sessionOf(request).id)
    clearSessionCookie(ctx, reply)
    return { success: true, message: 'You are signed out' }
  })

  server.put('/session/password', { schema: { body: ChangePassword } }, async (request) => {
    const { current_password: current, new_password: next } = request.body
    await changePassword(ctx, tenantOf(request), sessionOf(request), { current, next })
    auditAccess(ctx, request, 'password_changed', { memberId: sessionOf(request).member.id })
    return { success: true, message: 'Your password has been changed; you are signed out everywhere else' }
  })
}

async function begin(ctx: Context, request: FastifyRequest, reply: FastifyReply, token: string) {
  await endSessionBefore(ctx, request)
  const { caller, session } = await authenticateSession(ctx, token)
  setSessionCookie(ctx, reply, token)
  const { deviceToken } = originOf(request)
  setDeviceCookie(ctx, reply, knownDeviceToken(ctx, { tenant: caller.tenant, member: session.member }, deviceToken))
  return answer(ctx, caller.tenant, session)
}

function originOf(request: FastifyRequest): SignInOrigin {
  const network = clientNetwork(request) ?? request.ip
  return { network, area: areaOf(network), deviceToken: deviceToken(request) }
}

/** A browser has one session: a new one ends the previous one. */
async function endSessionBefore(ctx: Context, request: FastifyRequest): Promise<void> {
  try {
    const { caller, session } = await authenticateSession(ctx, sessionToken(request))
    await endSession(ctx, caller.tenant.id, session.id)
  } catch (error) {
    // There was no session, or it has ended.
    if (!(error instanceof Problem)) throw error
  }
}

/**
 * `live_from`: the position after which the page receives live events. It is read before any data that events may
 * change.
 */
async function answer(ctx: Context, tenant: Tenant, { member, byLink }: Session) {
  const session = {
    member: presentTeamMember(member),
    organization: presentOrganization(tenant),
    by_link: byLink,
    public_url: ctx.publicUrl(),
    simulator: ctx.sandboxes !== null,
    utm_source: ctx.channelNames[0] ?? '',
    live_from: await markNow(ctx),
  }
  return { success: true, session }
}
