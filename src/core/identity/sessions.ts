import { timingSafeEqual } from 'node:crypto'
import type { Context, OperatorContext } from '../../context.js'
import { batch } from '../../lib/async/batcher.js'
import { type MemberRole, scopesOfRole, type TeamMember } from '../../model/organizations/member.js'
import { Problem } from '../../model/problem.js'
import {
  confirmSession,
  findSession,
  findSessionRoles,
  type MemberSession,
  endSession as removeSession,
  rotateSession,
} from '../../storage/identity/sessions.js'
import { refuseSuspended } from '../organizations/suspension.js'
import type { Caller } from './api-keys.js'

/** A session expires this long after its last use (to the hour), in milliseconds. */
export const SESSION_MS = 14 * 24 * 60 * 60_000
const ROTATION_MS = 60 * 60_000
/** How long a token works after its successor was used, for requests that were under way. */
const GRACE_MS = 60_000
const MAX_ROLES = 1_000

/** A signed-in member. */
export interface Session {
  id: string
  member: TeamMember
  /** True if the session began with a link and no password was set since. */
  byLink: boolean
  expiresAt: Date
}

/** The result of a valid token: the session and the author of the request. */
export interface SignedIn {
  session: Session
  caller: Caller
  /** The next token, which replaces the presented one; null if that one stays. */
  renewed: string | null
}

/**
 * Authenticates a session's token. A token with a wrong signature is refused without a query; all others are looked up,
 * so that the end of a session or a new role takes effect with the next request. Every hour the session gets a new
 * token; the old one works until the browser has used the new one. Throws session_required, and
 * organization_suspended.
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
  refuseSuspended(found.tenant)
  const signedIn = present(id, found)
  if (standing === 'current') {
    if (isFirst(found)) await confirmSession(ctx.database, organizationId, id, { secretHash: given.secretHash, now })
    return { ...signedIn, renewed: null }
  }
  const next = given.next()
  if (standing === 'due') {
    const expiresAt = new Date(now.getTime() + SESSION_MS)
    const secrets = { before: given.secretHash, after: next.secretHash }
    await rotateSession(ctx.database, organizationId, id, { ...secrets, now, expiresAt })
    return { ...signedIn, renewed: next.token }
  }
  // Not if the token was replaced under another master key.
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

/** True if the replacement token has not been used yet. */
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

/**
 * Creates the function that finds the current role of a session, for connections that outlast a request; null if it has
 * ended. Calls of the same moment share a query, since the end of one session has all connections of its organization
 * checked.
 */
export function createRoleLookup({ database, clock }: Pick<Context, 'database' | 'clock'>) {
  const findRole = batch(
    (sessions: { organizationId: string; id: string }[]) => findSessionRoles(database, sessions, clock()),
    MAX_ROLES,
  )
  return (organizationId: string, id: string): Promise<MemberRole | null> => findRole({ organizationId, id })
}

/** Ends a session from the next request on. */
export async function endSession(ctx: Context, organizationId: string, sessionId: string): Promise<void> {
  await removeSession(ctx.database, organizationId, sessionId)
  notifyOfSessions(ctx, organizationId)
}

/** Has all processes check the organization's open connections, because members were signed out or changed roles. */
export function notifyOfSessions(
  { notifications }: Pick<OperatorContext, 'notifications'>,
  organizationId: string,
): void {
  notifications.send({ topic: 'sessions', organizationIds: [organizationId] })
}
