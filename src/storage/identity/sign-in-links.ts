import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { NewSession } from './sessions.js'

const insert = statement<{ id: string }>(
  'signInLinks.insert',
  `INSERT INTO sign_in_links (organization_id, id, member_id, secret_hash, expires_at, created_at)
   SELECT organization_id, $3, id, $4, $6, $5 FROM members WHERE organization_id = $1 AND id = $2
   FOR KEY SHARE
   RETURNING id`,
)

const use = statement<{ id: string }>(
  'signInLinks.use',
  `WITH used AS (
     DELETE FROM sign_in_links WHERE organization_id = $1 AND id = $2 AND secret_hash = $3 AND expires_at > $6
     RETURNING member_id
   )
   INSERT INTO member_sessions (organization_id, id, member_id, secret_hash, rotated_at, by_link, expires_at, created_at)
   SELECT $1, $4, member_id, $5, $6, true, $7, $6 FROM used
   RETURNING id`,
)

const withdraw = statement<never>(
  'signInLinks.withdraw',
  'DELETE FROM sign_in_links WHERE organization_id = $1 AND member_id = $2',
)

const prune = sharedStatement<never>('signInLinks.prune', 'DELETE FROM sign_in_links WHERE expires_at <= $1')

/** Inserts a link of a member, by the hash of its secret; false if there is no such member. */
export async function insertSignInLink(
  db: Queryable,
  organizationId: string,
  memberId: string,
  link: { id: string; secretHash: Buffer; now: Date; expiresAt: Date },
): Promise<boolean> {
  const values = [organizationId, memberId, link.id, link.secretHash, link.now, link.expiresAt]
  return (await db.run(insert, values)).length > 0
}

/** Uses a link and begins its session; false if it was used, has expired or does not exist. */
export async function useSignInLink(
  db: Queryable,
  organizationId: string,
  link: { id: string; secretHash: Buffer },
  { id, secretHash, now, expiresAt }: NewSession,
): Promise<boolean> {
  const rows = await db.run(use, [organizationId, link.id, link.secretHash, id, secretHash, now, expiresAt])
  return rows.length > 0
}

/** Deletes a member's unused links. */
export async function withdrawSignInLinks(db: Queryable, organizationId: string, memberId: string): Promise<void> {
  await db.run(withdraw, [organizationId, memberId])
}

/** Deletes links that have expired at `now`. Of all organizations. */
export async function pruneSignInLinks(db: Queryable, now: Date): Promise<void> {
  await db.run(prune, [now])
}
