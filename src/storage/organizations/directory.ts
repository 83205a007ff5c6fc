import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import { sha256 } from '../../lib/crypto/signature.js'

/** What is looked up before the organization is known. */
export type DirectoryKind =
  | 'slug'
  | 'api_key'
  | 'api_key_id'
  | 'phone_number_id'
  | 'business_account_id'
  | 'member_id'
  | 'short_link'
  | 'instance_token'

/** The hash under which the directory stores a value, since all organizations share the table. */
export function directoryHash(value: string): Buffer {
  return sha256(value)
}

/**
 * Ends an INSERT INTO directory. Nothing is inserted if an organization holds the value; the value of a deleted one is
 * taken over. The statement must see that the holder is deleted, because a holder that was created at this moment is
 * not visible either.
 */
export const UNLESS_HELD = `ON CONFLICT (kind, value_hash) DO UPDATE SET organization_id = excluded.organization_id
     WHERE EXISTS (
       SELECT FROM organization_rows holder WHERE holder.id = directory.organization_id AND holder.deleted_at IS NOT NULL
     )`

const claim = statement<{ organization_id: string }>(
  'directory.claim',
  `WITH claimed AS (
     INSERT INTO directory (kind, value_hash, organization_id) VALUES ($2, $3, $1)
     ${UNLESS_HELD}
     RETURNING organization_id
   )
   SELECT organization_id FROM claimed
   UNION ALL
   SELECT organization_id FROM directory WHERE kind = $2 AND value_hash = $3 AND NOT EXISTS (SELECT FROM claimed)`,
)

const release = statement<never>(
  'directory.release',
  `DELETE FROM directory WHERE organization_id = $1 AND kind = $2 AND ($3::bytea IS NULL OR value_hash <> $3)`,
)

const releaseOne = statement<never>(
  'directory.releaseOne',
  'DELETE FROM directory WHERE organization_id = $1 AND kind = $2 AND value_hash = $3',
)

const find = sharedStatement<{ organization_id: string }>(
  'directory.find',
  `SELECT d.organization_id FROM directory d JOIN kept_organizations o ON o.id = d.organization_id
   WHERE d.kind = $1 AND d.value_hash = $2`,
)

/** Claims a value for the organization; false if another one holds it. The organization may hold it already. */
export async function claimInDirectory(
  db: Queryable,
  organizationId: string,
  kind: DirectoryKind,
  value: string,
): Promise<boolean> {
  const [row] = await db.run(claim, [organizationId, kind, directoryHash(value)])
  // Claimed at the same moment: the second select cannot see that row, but the next statement can.
  if (!row) return claimInDirectory(db, organizationId, kind, value)
  return row.organization_id === organizationId
}

/** Releases the organization's values of a kind, except for the one still in use. */
export async function releaseInDirectory(
  db: Queryable,
  organizationId: string,
  kind: DirectoryKind,
  keep: string | null,
): Promise<void> {
  await db.run(release, [organizationId, kind, keep === null ? null : directoryHash(keep)])
}

/** Releases one of the organization's values. */
export async function releaseFromDirectory(
  db: Queryable,
  organizationId: string,
  kind: DirectoryKind,
  value: string,
): Promise<void> {
  await db.run(releaseOne, [organizationId, kind, directoryHash(value)])
}

/** The organization that holds a value, also a suspended one; null if there is none. */
export async function findInDirectory(db: Queryable, kind: DirectoryKind, value: string): Promise<string | null> {
  const rows = await db.run(find, [kind, directoryHash(value)])
  return rows[0]?.organization_id ?? null
}
