import type { Context, PasswordSource } from '../../context.js'
import { isForeignKeyViolation } from '../../database/errors.js'
import { retryOnDeadlock } from '../../database/retry.js'
import { newId } from '../../lib/bytes/id.js'
import type { TeamMember } from '../../model/organizations/member.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { findMemberByName } from '../../storage/identity/members.js'
import { beginSession, type NewSession } from '../../storage/identity/sessions.js'
import { useSignInLink } from '../../storage/identity/sign-in-links.js'
import { readSignInName, type SignInName, tryPassword } from './lockout.js'
import { SESSION_MS } from './sessions.js'

export interface Credentials {
  /** The organization's slug. */
  organization: string
  email: string
  password: string
}

/** Where a request to sign in comes from. */
export interface SignInOrigin {
  /** The client's network. */
  network: string
  /** The wider network that the client may have as well; null if there is none. */
  area: string | null
  /** The token that the device got when a member signed in on it, if it has one. */
  deviceToken: string | undefined
}

/**
 * Signs a member in with a password and returns the token of a new session. Throws sign_in_failed with the same text
 * and after the same time for every reason, too_many_requests, or service_unavailable.
 */
export async function signIn(
  ctx: Context,
  { organization, email, password }: Credentials,
  from: SignInOrigin,
): Promise<string> {
  const name = readSignInName(organization, email)
  const source = sourceOf(ctx, name, from)
  const token = await tryPassword(ctx, name, source, async () => {
    const member = await findMemberByName(ctx.database, name.slug, name.email)
    const passwordHash = member?.password_hash ?? null
    if (!(await ctx.passwords.matches(source, passwordHash, password)) || !member || passwordHash === null) return null
    const session = newSession(ctx, member.organization_id)
    const begun = await beginSession(ctx.database, member.organization_id, { id: member.id, passwordHash }, session)
    return begun ? session.token : null
  })
  if (token !== null) return token
  throw new Problem(
    'sign_in_failed',
    'Organization, e-mail address or password is wrong: check them, or ask an owner of the team for a sign-in link',
  )
}

/** The token by which the device of a signed-in member is known from now on. `known`: the one that it has. */
export function knownDeviceToken(
  ctx: Context,
  { tenant, member }: { tenant: Tenant; member: TeamMember },
  known: string | undefined,
): string {
  const name = readSignInName(tenant.slug, member.email)
  const deviceId = known === undefined ? null : ctx.signInTokens.device.read(known, name)
  return ctx.signInTokens.device.issue(name, deviceId ?? newId())
}

function sourceOf(ctx: Context, name: SignInName, { network, area, deviceToken }: SignInOrigin): PasswordSource {
  const deviceId = deviceToken === undefined ? null : ctx.signInTokens.device.read(deviceToken, name)
  return deviceId === null
    ? { id: `network ${network}`, isKnown: false, area: area === null ? null : `area ${area}` }
    : { id: `device ${deviceId}`, isKnown: true, area: null }
}

/** Signs a member in with a link's token, once, and returns the token of a new session. Throws sign_in_failed. */
export async function signInByLink(ctx: Context, token: string): Promise<string> {
  const link = ctx.signInTokens.link.read(token)
  if (link !== null) {
    const session = newSession(ctx, link.organizationId)
    if (await useLink(ctx, link, session)) return session.token
  }
  throw new Problem(
    'sign_in_failed',
    'This sign-in link is not valid, has been used, or is older than a day: ask an owner of the team for another one',
  )
}

/** Also false on a deadlock with the removal of the member, which locks the rows in another order. */
async function useLink(
  { database }: Context,
  { organizationId, ...link }: { organizationId: string; id: string; secretHash: Buffer },
  session: NewSession,
): Promise<boolean> {
  try {
    return await retryOnDeadlock(() => useSignInLink(database, organizationId, link, session))
  } catch (error) {
    if (isForeignKeyViolation(error)) return false
    throw error
  }
}

function newSession(ctx: Context, organizationId: string) {
  const id = newId()
  const now = ctx.clock()
  const { token, secretHash } = ctx.signInTokens.session.issue(organizationId, id)
  return { id, token, secretHash, now, expiresAt: new Date(now.getTime() + SESSION_MS) }
}
