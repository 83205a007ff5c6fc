import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { Member, MemberRole } from '../../model/organizations/member.js'
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

const findByName = statement<MemberCredentials>(
  'members.findByName',
  `SELECT m.organization_id, m.id, m.password_hash
   FROM directory d JOIN organizations o ON o.id = d.organization_id
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

// Whoever stops being an owner meanwhile is none any more when the lock is given.
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

// Whoever gives the member a contact, or a note, at this moment has done so before, or finds nobody any more.
const lock = statement<{ id: string }>(
  'members.lock',
  'SELECT id FROM members WHERE organization_id = $1 AND id = $2 FOR UPDATE',
)

// Sessions and links go with the row. What it said stays. How many events there are is not known before.
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
     INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT $1, gen_random_uuid(), 'contact.updated', id, jsonb_build_object('contact', to_jsonb(answered)) FROM answered
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

/** What it takes to tell whether somebody is a member. */
export interface MemberCredentials {
  organization_id: string
  id: string
  password_hash: string | null
}

/** Inserts a member; a unique violation of members_email when the organization has one with this e-mail address. */
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

/** The member with this e-mail address (in lower case) of the organization with this slug, or null. One query, whatever there is. */
export async function findMemberByName(db: Queryable, slug: string, email: string): Promise<MemberCredentials | null> {
  const rows = await db.run(findByName, [directoryHash(slug), email])
  return rows[0] ?? null
}

/** The hash of a member's password; null when there is none, undefined when there is no such member. */
export async function findMemberPassword(
  db: Queryable,
  organizationId: string,
  memberId: string,
): Promise<string | null | undefined> {
  const rows = await db.run(findPassword, [organizationId, memberId])
  return rows[0]?.password_hash
}

/** Gives a member a new password where it still has the one before; false when it has not. By hashes; null: none. */
export async function setMemberPassword(
  db: Queryable,
  organizationId: string,
  memberId: string,
  { before, after }: { before: string | null; after: string },
): Promise<boolean> {
  const rows = await db.run(setPassword, [organizationId, memberId, before, after])
  return rows.length > 0
}

/** The ids of the organization's owners, whom nobody else changes before the end of the transaction. */
export async function lockTeamOwners(transaction: Queryable, organizationId: string): Promise<string[]> {
  const rows = await transaction.run(lockOwners, [organizationId])
  return rows.map(({ id }) => id)
}

/** Changes what is given of a member; null when there is none. */
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
 * Deletes a member, who leaves its contacts to nobody, and raises contact.updated for each; false when there is none. Needs a
 * transaction: the lock comes first, so that the last statement sees every contact and note that the member was given.
 */
export async function deleteMember(transaction: Queryable, organizationId: string, memberId: string): Promise<boolean> {
  await transaction.run(lock, [organizationId, memberId])
  const rows = await transaction.raise(remove, [organizationId, memberId, directoryHash(memberId)], [organizationId])
  return rows.length > 0
}

/** Whether the member belongs to the organization. */
export async function memberExists(db: Queryable, organizationId: string, memberId: string): Promise<boolean> {
  const rows = await db.run(exists, [organizationId, memberId])
  return rows[0]?.found === true
}
