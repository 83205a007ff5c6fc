import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { MemberRole, TeamMember } from '../../model/organizations/member.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { TENANT_COLUMNS, type TenantRow, toTenant } from '../organizations/organizations.js'

/** A session with its member and organization. */
export interface MemberSession {
  secret_hash: Buffer
  previous_hash: Buffer | null
  rotated_at: Date
  confirmed_at: Date | null
  by_link: boolean
  expires_at: Date
  member: TeamMember
  tenant: Tenant
}

interface SessionRow extends TenantRow {
  secret_hash: Buffer
  previous_hash: Buffer | null
  rotated_at: Date
  confirmed_at: Date | null
  by_link: boolean
  expires_at: Date
  member_id: string
  email: string
  full_name: string
  role: MemberRole
  has_password: boolean
}

// A change of the password locks the member's row, so the session begins before it and is ended, or does not begin.
const begin = statement<{ id: string }>(
  'memberSessions.begin',
  `INSERT INTO member_sessions (organization_id, id, member_id, secret_hash, rotated_at, by_link, expires_at, created_at)
   SELECT organization_id, $3, id, $5, $6, false, $7, $6
   FROM members WHERE organization_id = $1 AND id = $2 AND password_hash = $4
   FOR SHARE
   RETURNING id`,
)

const find = statement<SessionRow>(
  'memberSessions.find',
  `SELECT s.secret_hash, s.previous_hash, s.rotated_at, s.confirmed_at, s.by_link, s.expires_at,
     m.id AS member_id, m.email, m.full_name, m.role, m.password_hash IS NOT NULL AS has_password, ${TENANT_COLUMNS}
   FROM member_sessions s
   JOIN members m ON m.organization_id = s.organization_id AND m.id = s.member_id
   JOIN kept_organizations o ON o.id = s.organization_id
   LEFT JOIN upstream_settings u ON u.organization_id = s.organization_id
   WHERE s.organization_id = $1 AND s.id = $2`,
)

const findRoles = sharedStatement<{ role: MemberRole | null }>(
  'memberSessions.findRoles',
  `SELECT m.role
   FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS given (organization_id, id, n)
     LEFT JOIN member_sessions s ON s.organization_id = given.organization_id AND s.id = given.id AND s.expires_at > $3
     LEFT JOIN members m ON m.organization_id = s.organization_id AND m.id = s.member_id
   ORDER BY given.n`,
)

const rotate = statement<never>(
  'memberSessions.rotate',
  `UPDATE member_sessions SET previous_hash = secret_hash, secret_hash = $4, rotated_at = $5, confirmed_at = NULL, expires_at = $6
   WHERE organization_id = $1 AND id = $2 AND secret_hash = $3`,
)

const confirm = statement<never>(
  'memberSessions.confirm',
  `UPDATE member_sessions SET confirmed_at = $4
   WHERE organization_id = $1 AND id = $2 AND secret_hash = $3 AND confirmed_at IS NULL`,
)

const end = statement<never>('memberSessions.end', 'DELETE FROM member_sessions WHERE organization_id = $1 AND id = $2')

const endOthers = statement<never>(
  'memberSessions.endOthers',
  `WITH kept AS (UPDATE member_sessions SET by_link = false WHERE organization_id = $1 AND id = $3)
   DELETE FROM member_sessions WHERE organization_id = $1 AND member_id = $2 AND id <> $3`,
)

const prune = sharedStatement<never>('memberSessions.prune', 'DELETE FROM member_sessions WHERE expires_at <= $1')

/** The columns of a new session. */
export interface NewSession {
  id: string
  secretHash: Buffer
  now: Date
  expiresAt: Date
}

/** Begins a session if the member's password hash is still the given one; false if it is not. */
export async function beginSession(
  db: Queryable,
  organizationId: string,
  member: { id: string; passwordHash: string },
  { id, secretHash, now, expiresAt }: NewSession,
): Promise<boolean> {
  const rows = await db.run(begin, [organizationId, member.id, id, member.passwordHash, secretHash, now, expiresAt])
  return rows.length > 0
}

/** A session, even if expired; null if there is none. */
export async function findSession(
  db: Queryable,
  organizationId: string,
  sessionId: string,
): Promise<MemberSession | null> {
  const [row] = await db.run(find, [organizationId, sessionId])
  if (!row) return null
  const { secret_hash, previous_hash, rotated_at, confirmed_at, by_link, expires_at, ...rest } = row
  const { member_id, email, full_name, role, has_password, ...tenant } = rest
  const member = { id: member_id, email, full_name, role, has_password }
  const session = { secret_hash, previous_hash, rotated_at, confirmed_at, by_link, expires_at }
  return { ...session, member, tenant: toTenant(tenant) }
}

/** The roles of the members of sessions; null if there is no such session or it has expired at `now`. */
export async function findSessionRoles(
  db: Queryable,
  sessions: readonly { organizationId: string; id: string }[],
  now: Date,
): Promise<(MemberRole | null)[]> {
  const organizationIds = sessions.map(({ organizationId }) => organizationId)
  const ids = sessions.map(({ id }) => id)
  const rows = await db.run(findRoles, [organizationIds, ids, now])
  return rows.map(({ role }) => role)
}

/** Replaces a session's secret and extends it, if the secret is still the given one. By hashes. */
export async function rotateSession(
  db: Queryable,
  organizationId: string,
  sessionId: string,
  { before, after, now, expiresAt }: { before: Buffer; after: Buffer; now: Date; expiresAt: Date },
): Promise<void> {
  await db.run(rotate, [organizationId, sessionId, before, after, now, expiresAt])
}

/** Stores when a session's secret was first used. By its hash. */
export async function confirmSession(
  db: Queryable,
  organizationId: string,
  sessionId: string,
  { secretHash, now }: { secretHash: Buffer; now: Date },
): Promise<void> {
  await db.run(confirm, [organizationId, sessionId, secretHash, now])
}

/** Ends a session. */
export async function endSession(db: Queryable, organizationId: string, sessionId: string): Promise<void> {
  await db.run(end, [organizationId, sessionId])
}

/** Ends all other sessions of a member; this one counts as begun with a password from now on. */
export async function endOtherSessions(
  db: Queryable,
  organizationId: string,
  memberId: string,
  sessionId: string,
): Promise<void> {
  await db.run(endOthers, [organizationId, memberId, sessionId])
}

/** Deletes sessions that have expired at `now`. Of all organizations. */
export async function pruneSessions(db: Queryable, now: Date): Promise<void> {
  await db.run(prune, [now])
}
