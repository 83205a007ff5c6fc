import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { LegalHold, Organization, ReleasedHold } from '../../model/organizations/organization.js'
import { COLUMNS } from './organizations.js'

// Waits for deletions, which hold a lock that a mere update does not wait for.
const set = statement<Organization>(
  'legalHold.set',
  `WITH free AS (
     SELECT id FROM kept_organizations WHERE id = $1 AND legal_hold IS NULL FOR UPDATE
   )
   UPDATE kept_organizations SET legal_hold = $2, updated_at = now() WHERE id = (SELECT id FROM free) RETURNING ${COLUMNS}`,
)

// The first part of the WITH reads the row as it was.
const release = statement<Organization>(
  'legalHold.release',
  `WITH ended AS (
     INSERT INTO released_holds (organization_id, id, hold, released_by, released_at)
     SELECT id, $2, legal_hold, $3, $4 FROM kept_organizations WHERE id = $1 AND legal_hold IS NOT NULL
     RETURNING organization_id
   )
   UPDATE kept_organizations SET legal_hold = NULL, updated_at = now()
   WHERE id = (SELECT organization_id FROM ended)
   RETURNING ${COLUMNS}`,
)

const lock = statement<{ legal_hold: LegalHold | null }>(
  'legalHold.lock',
  'SELECT legal_hold FROM kept_organizations WHERE id = $1 FOR KEY SHARE',
)

const listReleased = statement<ReleasedHold>(
  'legalHold.listReleased',
  `SELECT hold ->> 'reason' AS reason, hold ->> 'by' AS by, hold ->> 'since' AS since, released_by, released_at
   FROM released_holds WHERE organization_id = $1
   ORDER BY released_at DESC, id DESC`,
)

/** Sets the hold of an organization; null if there is no such organization, or one is on. */
export async function setLegalHold(
  db: Queryable,
  organizationId: string,
  hold: LegalHold,
): Promise<Organization | null> {
  const rows = await db.run(set, [organizationId, JSON.stringify(hold)])
  return rows[0] ?? null
}

/** Releases the hold of an organization, and remembers it under `id`; null if none is on. */
export async function releaseLegalHold(
  db: Queryable,
  organizationId: string,
  { id, by, at }: { id: string; by: string; at: Date },
): Promise<Organization | null> {
  const rows = await db.run(release, [organizationId, id, by, at])
  return rows[0] ?? null
}

/** The hold of an organization; until the end of the transaction, none can be set. */
export async function lockLegalHold(transaction: Queryable, organizationId: string): Promise<LegalHold | null> {
  const rows = await transaction.run(lock, [organizationId])
  return rows[0]?.legal_hold ?? null
}

/** The holds of an organization that were released, the last one first. */
export function listReleasedHolds(db: Queryable, organizationId: string): Promise<ReleasedHold[]> {
  return db.run(listReleased, [organizationId])
}
