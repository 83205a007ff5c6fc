import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'

// A suspended organization is not in the view `organizations` (docs/decisions/moving-an-organization.md).

/** SQL condition: the organization with this id (SQL) is suspended. */
export function isSuspended(id: string): string {
  return `EXISTS (SELECT FROM organization_rows s WHERE s.id = ${id} AND s.suspended_at IS NOT NULL)`
}

// A process that runs a linked device disconnects it at the next renewal of its leases.
const suspend = statement<{ suspended_at: Date }>(
  'suspension.suspend',
  `WITH leases AS (
     UPDATE instances SET holder = NULL, held_until = NULL WHERE organization_id = $1 AND holder IS NOT NULL
   )
   UPDATE organization_rows SET suspended_at = coalesce(suspended_at, now())
   WHERE id = $1 AND deleted_at IS NULL
   RETURNING suspended_at`,
)

const resume = statement<{ id: string }>(
  'suspension.resume',
  `WITH forward AS (DELETE FROM forwards WHERE organization_id = $1)
   UPDATE organization_rows SET suspended_at = NULL
   WHERE id = $1 AND deleted_at IS NULL AND suspended_at IS NOT NULL
   RETURNING id`,
)

const forward = statement<never>(
  'suspension.forward',
  `INSERT INTO forwards (organization_id, url) VALUES ($1, $2)
   ON CONFLICT (organization_id) DO UPDATE SET url = excluded.url, created_at = now()`,
)

/** Why an organization is not found: its links lead to another cell, and it is suspended. */
export interface Absence {
  /** The URL of that cell; null: they lead nowhere. */
  movedTo: string | null
  isSuspended: boolean
}

const findAbsence = statement<Absence>(
  'suspension.findAbsence',
  `SELECT (
       SELECT url FROM forwards
       WHERE organization_id = $1 AND NOT EXISTS (SELECT FROM organizations WHERE id = $1)
     ) AS "movedTo", ${isSuspended('$1')} AS "isSuspended"`,
)

/** An organization that is suspended. */
export interface SuspendedOrganization {
  slug: string
  suspended_at: Date
  /** The URL of the cell to which its links lead; null: they lead nowhere. */
  movedTo: string | null
}

const list = sharedStatement<SuspendedOrganization>(
  'suspension.list',
  `SELECT o.slug, o.suspended_at, f.url AS "movedTo"
   FROM kept_organizations o LEFT JOIN forwards f ON f.organization_id = o.id
   WHERE o.suspended_at IS NOT NULL
   ORDER BY o.suspended_at, o.slug`,
)

/** Suspends an organization, or leaves it suspended; its linked devices have no leases. Null if there is none. */
export async function suspendOrganizationRow(db: Queryable, organizationId: string): Promise<Date | null> {
  const [row] = await db.run(suspend, [organizationId])
  return row?.suspended_at ?? null
}

/** Ends the suspension, and the forward of links; false if the organization was not suspended. */
export async function resumeOrganizationRow(db: Queryable, organizationId: string): Promise<boolean> {
  const rows = await db.run(resume, [organizationId])
  return rows.length > 0
}

/** Leads the links of an organization to the cell at `url` while the organization does not work here. */
export async function insertForward(db: Queryable, organizationId: string, url: string): Promise<void> {
  await db.run(forward, [organizationId, url])
}

/** Why statements do not find an organization. */
export async function findOrganizationAbsence(db: Queryable, organizationId: string): Promise<Absence> {
  const [absence] = await db.run(findAbsence, [organizationId])
  return absence as Absence
}

/** The suspended organizations, the one that was suspended first at the beginning. */
export function listSuspendedOrganizations(db: Queryable): Promise<SuspendedOrganization[]> {
  return db.run(list, [])
}
