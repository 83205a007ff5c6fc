import { timingSafeEqual } from 'node:crypto'
import type { Context, OperatorContext } from '../../context.js'
import { type MemberRole, scopesOfRole, type TeamMember } from '../../model/organizations/member.js'
import { Problem } from '../../model/problem.js'
import {
  confirmSession,
  findSession,
  findSessionRole,
  type MemberSession,
  endSession as removeSession,
  rotateSession,
} from '../../storage/identity/sessions.js'
import type { Caller } from './api-keys.js'

/** How long a session lasts after it was last used, in milliseconds (to the hour). */
export const SESSION_MS = 14 * 24 * 60 * 60_000
const ROTATION_MS = 60 * 60_000
/** How long a token works after the next one was presented: for what was under way at that moment. */
const GRACE_MS = 60_000

/** A member who is signed in. */
export interface Session {
  id: string
  member: TeamMember
  /** Begun by a link, and no password set since. */
  byLink: boolean
  expiresAt: Date
}

/** What a token opens: the member's session, and who makes the request. */
export interface SignedIn {
  session: Session
  caller: Caller
  /** The token that takes the place of the one presented; null while that one stays. */
  renewed: string | null
}

/**
 * Tells who presents a session's token. One that is not ours is refused without a look at the database; for all others it is asked,
 * so that the end of a session, and a member's new role, count from the next request. Every hour the session gets another token,
 * and the one before works until that has reached its browser.
 * Throws session_required.
 */
export async function authenticateSession(ctx: Context, token: string | undefined): Promise<SignedIn> {
  if (token === undefined) return refuse()
  const given = ctx.signInTokens.session.read(token)
  if (given === null) return refuse()
  const { organizationId, id } = given
  const now = ctx.clock()
  const found = await findSession(ctx.database, organizationId, id)
  if (found === null || found.expires_at <= now) return refuse()
  const standing = standingOf(found, given.secretHash, now)
  if (standing === 'unknown') return refuse()
  const signedIn = present(id, found)
  if (standing === 'current') {
    if (isFirst(found)) await confirmSession(ctx.database, organizationId, id, given.secretHash, now)
    return { ...signedIn, renewed: null }
  }
  const next = given.next()
  if (standing === 'due') {
    const expiresAt = new Date(now.getTime() + SESSION_MS)
    const secrets = { before: given.secretHash, after: next.secretHash }
    await rotateSession(ctx.database, organizationId, id, { ...secrets, now, expiresAt })
    return { ...signedIn, renewed: next.token }
  }
  // Not where it was replaced under another master key.
  return { ...signedIn, renewed: timingSafeEqual(next.secretHash, found.secret_hash) ? next.token : null }
}

function standingOf(
  { secret_hash, previous_hash, rotated_at, confirmed_at }: MemberSession,
  given: Buffer,
  now: Date,
): 'current' | 'due' | 'replaced' | 'unknown' {
  const since = (moment: Date) => now.getTime() - moment.getTime()
  if (timingSafeEqual(given, secret_hash)) return since(rotated_at) < ROTATION_MS ? 'current' : 'due'
  if (!previous_hash || !timingSafeEqual(given, previous_hash)) return 'unknown'
  return confirmed_at === null || since(confirmed_at) < GRACE_MS ? 'replaced' : 'unknown'
}

/** Whether nobody has come yet with the token that took the place of another. */
function isFirst({ previous_hash, confirmed_at }: MemberSession): boolean {
  return previous_hash !== null && confirmed_at === null
}

function present(id: string, { member, tenant, by_link, expires_at }: MemberSession): Omit<SignedIn, 'renewed'> {
  return {
    session: { id, member, byLink: by_link, expiresAt: expires_at },
    caller: { keyId: member.id, scopes: scopesOfRole(member.role), tenant, instance: null, memberId: member.id },
  }
}

function refuse(): never {
  throw new Problem('session_required', 'You are not signed in, or your session has ended: sign in')
}

/** The role in which a session goes on, for what stays open longer than a request; null where it has ended. */
export function roleOfSession(
  ctx: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  sessionId: string,
): Promise<MemberRole | null> {
  return findSessionRole(ctx.database, organizationId, sessionId, ctx.clock())
}

/** Ends a session: its tokens open nothing from the next request on. */
export async function endSession(ctx: Context, organizationId: string, sessionId: string): Promise<void> {
  await removeSession(ctx.database, organizationId, sessionId)
  notifyOfSessions(ctx, organizationId)
}

/** Has what the organization's members have open looked at, on every process: some were signed out, or have another role. */
export function notifyOfSessions(
  { notifications: signals }: Pick<OperatorContext, 'notifications'>,
  organizationId: string,
): void {
  signals.send({ topic: 'sessions', organizationIds: [organizationId] })
}
