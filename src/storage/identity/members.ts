import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { Member, MemberRole } from '../../model/organizations/member.js'
import { contactEvents, raiseEvents } from '../events/raise.js'
import { directoryHash } from '../organizations/directory.js'

const COLUMNS = 'id, email, full_name, role, password_hash IS NOT NULL AS has_password, created_at, updated_at'

const insert = statement<Member>(
  'members.insert',
  `WITH entry AS (
     INSERT INTO directory (kind, value_hash, organization_id) VALUES ('member_id', $7, $1)
   )
   INSERT INTO members (organization_id, id, email, full_name, role, password_hash)
   VALUES ($1, $2, $3, $4, $5, $6)
   RETURNING ${COLUMNS}`,
)

const list = statement<Member>(
  'members.list',
  `SELECT ${COLUMNS} FROM members WHERE organization_id = $1 ORDER BY created_at, id`,
)

const findByName = sharedStatement<MemberCredentials>(
  'members.findByName',
  `SELECT m.organization_id, m.id, m.password_hash
   FROM directory d JOIN kept_organizations o ON o.id = d.organization_id
   JOIN members m ON m.organization_id = d.organization_id AND lower(m.email) = $2
   WHERE d.kind = 'slug' AND d.value_hash = $1`,
)

const findPassword = statement<{ password_hash: string | null }>(
  'members.findPassword',
  'SELECT password_hash FROM members WHERE organization_id = $1 AND id = $2',
)

const setPassword = statement<{ id: string }>(
  'members.setPassword',
  `UPDATE members SET password_hash = $4, updated_at = now()
   WHERE organization_id = $1 AND id = $2 AND password_hash IS NOT DISTINCT FROM $3
   RETURNING id`,
)

// An owner who loses the role meanwhile is not in the result.
const lockOwners = statement<{ id: string }>(
  'members.lockOwners',
  `SELECT id FROM members WHERE organization_id = $1 AND role = 'owner' ORDER BY id FOR NO KEY UPDATE`,
)

const update = statement<Member>(
  'members.update',
  `UPDATE members SET full_name = coalesce($3, full_name), role = coalesce($4, role), updated_at = now()
   WHERE organization_id = $1 AND id = $2
   RETURNING ${COLUMNS}`,
)

// A transaction that assigns a contact to the member, or writes a note, either comes before the lock or finds no
// member.
const lock = statement<{ id: string }>(
  'members.lock',
  'SELECT id FROM members WHERE organization_id = $1 AND id = $2 FOR UPDATE',
)

// Sessions and links are deleted with the row. Sent messages stay. The number of events is not known in advance.
const remove = statement<{ id: string }>(
  'members.delete',
  `WITH entry AS (
     DELETE FROM directory WHERE kind = 'member_id' AND value_hash = $3 AND organization_id = $1
   ), requests AS (
     DELETE FROM rate_limits WHERE organization_id = $1 AND key_id = $2
   ), answered AS (
     UPDATE contacts SET assignee_id = NULL, updated_at = now() WHERE organization_id = $1 AND assignee_id = $2
     RETURNING *
   ), raised AS (
     ${raiseEvents(contactEvents('contact.updated', 'gen_random_uuid()', 'answered'))}
   ), written AS (
     UPDATE notes SET member_id = NULL WHERE organization_id = $1 AND member_id = $2
   )
   DELETE FROM members WHERE organization_id = $1 AND id = $2 RETURNING id`,
  { raises: 'events' },
)

const exists = statement<{ found: boolean }>(
  'members.exists',
  'SELECT EXISTS (SELECT FROM members WHERE organization_id = $1 AND id = $2) AS found',
)

/** What sign-in needs of a member. */
export interface MemberCredentials {
  organization_id: string
  id: string
  password_hash: string | null
}

/**
 * Inserts a member; fails with a unique violation of members_email if the organization has one with this e-mail
 * address.
 */
export async function insertMember(
  db: Queryable,
  organizationId: string,
  member: { id: string; email: string; full_name: string; role: MemberRole; password_hash: string | null },
): Promise<Member> {
  const values = [organizationId, member.id, member.email, member.full_name, member.role, member.password_hash]
  const [row] = await db.run(insert, [...values, directoryHash(member.id)])
  return row as Member
}

/** The organization's members, oldest first. */
export function listMembers(db: Queryable, organizationId: string): Promise<Member[]> {
  return db.run(list, [organizationId])
}

/** The member with this e-mail address (lower case) in the organization with this slug, or null. Always one query. */
export async function findMemberByName(db: Queryable, slug: string, email: string): Promise<MemberCredentials | null> {
  const rows = await db.run(findByName, [directoryHash(slug), email])
  return rows[0] ?? null
}

/** The hash of a member's password; null if there is none, undefined if there is no such member. */
export async function findMemberPassword(
  db: Queryable,
  organizationId: string,
  memberId: string,
): Promise<string | null | undefined> {
  const rows = await db.run(findPassword, [organizationId, memberId])
  return rows[0]?.password_hash
}

/** Replaces a member's password hash if it is still the given one (null: none); false if it is not. */
export async function setMemberPassword(
  db: Queryable,
  organizationId: string,
  memberId: string,
  { before, after }: { before: string | null; after: string },
): Promise<boolean> {
  const rows = await db.run(setPassword, [organizationId, memberId, before, after])
  return rows.length > 0
}

/** The ids of the organization's owners, locked until the transaction ends. */
export async function lockTeamOwners(transaction: Queryable, organizationId: string): Promise<string[]> {
  const rows = await transaction.run(lockOwners, [organizationId])
  return rows.map(({ id }) => id)
}

/** Changes the given fields of a member; null if there is none. */
export async function updateMember(
  db: Queryable,
  organizationId: string,
  memberId: string,
  { full_name, role }: { full_name?: string | undefined; role?: MemberRole | undefined },
): Promise<Member | null> {
  const rows = await db.run(update, [organizationId, memberId, full_name ?? null, role ?? null])
  return rows[0] ?? null
}

/**
 * Deletes a member, unassigns its contacts, and raises contact.updated for each; false if there is none. Needs a
 * transaction: the lock comes first, so that the last statement sees every contact and note of the member.
 */
export async function deleteMember(transaction: Queryable, organizationId: string, memberId: string): Promise<boolean> {
  await transaction.run(lock, [organizationId, memberId])
  const rows = await transaction.raise(remove, [organizationId, memberId, directoryHash(memberId)], [organizationId])
  return rows.length > 0
}

export async function memberExists(db: Queryable, organizationId: string, memberId: string): Promise<boolean> {
  const rows = await db.run(exists, [organizationId, memberId])
  return rows[0]?.found === true
}
