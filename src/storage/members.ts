import type { Queryable } from '../database/pool.js'
import { statement } from '../database/statement.js'
import { directoryHash } from './directory.js'

export type MemberRole = 'owner' | 'agent' | 'analyst'

/** A member of an organization's team, without the password's hash. */
export interface Member {
  id: string
  email: string
  full_name: string
  role: MemberRole
  created_at: Date
  updated_at: Date
}

const COLUMNS = 'id, email, full_name, role, created_at, updated_at'

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

const remove = statement<{ id: string }>(
  'members.delete',
  `WITH entry AS (DELETE FROM directory WHERE kind = 'member_id' AND value_hash = $3 AND organization_id = $1)
   DELETE FROM members WHERE organization_id = $1 AND id = $2 RETURNING id`,
)

const exists = statement<{ found: boolean }>(
  'members.exists',
  'SELECT EXISTS (SELECT FROM members WHERE organization_id = $1 AND id = $2) AS found',
)

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

/** Deletes a member; false when there is none. */
export async function deleteMember(db: Queryable, organizationId: string, memberId: string): Promise<boolean> {
  const rows = await db.run(remove, [organizationId, memberId, directoryHash(memberId)])
  return rows.length > 0
}

/** Whether the member belongs to the organization. */
export async function memberExists(db: Queryable, organizationId: string, memberId: string): Promise<boolean> {
  const rows = await db.run(exists, [organizationId, memberId])
  return rows[0]?.found === true
}
