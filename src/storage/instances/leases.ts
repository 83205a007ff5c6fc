import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import { isSuspended } from '../organizations/suspension.js'

/** A linked device under a process's lease; only that process runs its session until the lease ends. */
export interface LeasedInstance {
  organization_id: string
  id: string
  /** True if it is still to be kept connected. */
  wanted: boolean
  settings: Record<string, unknown>
}

const COLUMNS = 'organization_id, id, wanted, settings'

// All times are the database's, so the clocks of processes need not agree. A lease that was claimed at the moment of a
// suspension ends with the next renewal.
const renew = sharedStatement<LeasedInstance>(
  'instanceLeases.renew',
  `WITH present AS (
     UPDATE processes SET devices_until = now() + $2::integer * interval '1 millisecond' WHERE id = $1
   )
   UPDATE instances SET held_until = now() + $2::integer * interval '1 millisecond'
   WHERE holder = $1 AND NOT ${isSuspended('organization_id')}
   RETURNING ${COLUMNS}`,
)

// A locked row is being claimed, or its holder is still writing; it is skipped.
const claim = sharedStatement<LeasedInstance>(
  'instanceLeases.claim',
  `UPDATE instances SET holder = $1, held_until = now() + $2::integer * interval '1 millisecond'
   WHERE (organization_id, id) IN (
     SELECT i.organization_id, i.id FROM instances i JOIN organizations o ON o.id = i.organization_id
     WHERE i.wanted AND (i.holder IS NULL OR i.held_until < now())
     ORDER BY i.organization_id, i.id
     LIMIT $3
     FOR UPDATE OF i SKIP LOCKED
   )
   RETURNING ${COLUMNS}`,
)

/** The linked devices that are to be kept connected, without those of suspended organizations. */
export interface LeaseFigures {
  /** Those that a process holds. */
  held: number
  /** Those that no process holds. */
  unheld: number
}

const figures = sharedStatement<LeaseFigures>(
  'instanceLeases.figures',
  `SELECT count(*) FILTER (WHERE held)::float8 AS held, count(*) FILTER (WHERE NOT held)::float8 AS unheld
   FROM (
     SELECT holder IS NOT NULL AND held_until >= now() AS held FROM instances
     WHERE wanted AND NOT ${isSuspended('organization_id')}
   ) wanted`,
)

const share = sharedStatement<{ instances: number; others: number }>(
  'instanceLeases.share',
  `SELECT (SELECT count(*) FROM instances WHERE wanted) AS instances,
     (SELECT count(*) FROM processes WHERE id <> $1 AND devices_until > now()) AS others`,
)

const others = sharedStatement<{ run: boolean }>(
  'instanceLeases.others',
  'SELECT EXISTS (SELECT FROM processes WHERE id <> $1 AND devices_until > now()) AS run',
)

const release = sharedStatement<never>(
  'instanceLeases.release',
  `UPDATE instances i SET holder = NULL, held_until = NULL
   FROM unnest($1::uuid[], $2::uuid[]) AS given (organization_id, id)
   WHERE i.organization_id = given.organization_id AND i.id = given.id AND i.holder = $3`,
)

const leave = sharedStatement<never>(
  'instanceLeases.leave',
  `WITH absent AS (UPDATE processes SET devices_until = NULL WHERE id = $1)
   UPDATE instances SET holder = NULL, held_until = NULL WHERE holder = $1`,
)

const lock = statement<never>(
  'instanceLeases.lock',
  'SELECT FROM instances WHERE organization_id = $1 AND id = $2 AND holder = $3 FOR NO KEY UPDATE',
)

// A request to connect that came meanwhile is kept: some process starts again.
const end = statement<never>(
  'instanceLeases.end',
  `UPDATE instances SET holder = NULL, held_until = NULL, wanted = wanted AND EXISTS (
     SELECT FROM instance_commands c
     WHERE c.organization_id = $1 AND c.instance_id = $2 AND c.begun_at IS NULL AND c.expires_at > now() AND c.connects
   )
   WHERE organization_id = $1 AND id = $2 AND holder = $3`,
)

/**
 * Extends all leases of a process, and its mark as a process that runs linked devices, to `leaseMs` from now. Returns
 * the instances that it holds; the others were claimed elsewhere or deleted, or their organization is suspended.
 */
export function renewLeases(db: Queryable, processId: number, leaseMs: number): Promise<LeasedInstance[]> {
  return db.run(renew, [processId, leaseMs])
}

/** Claims up to `limit` wanted linked devices without a valid lease. */
export function claimInstances(
  db: Queryable,
  processId: number,
  leaseMs: number,
  limit: number,
): Promise<LeasedInstance[]> {
  return db.run(claim, [processId, leaseMs, limit])
}

/** The leases of the linked devices that are to be kept connected, of all organizations. */
export async function readLeaseFigures(db: Queryable): Promise<LeaseFigures> {
  const [row] = await db.run(figures, [])
  return row as LeaseFigures
}

/** The number of linked devices to run, and of the other processes that run such. */
export async function countInstancesToRun(
  db: Queryable,
  processId: number,
): Promise<{ instances: number; others: number }> {
  const [row] = await db.run(share, [processId])
  return row as { instances: number; others: number }
}

/** True if another process runs linked devices. */
export async function doOthersRunDevices(db: Queryable, processId: number): Promise<boolean> {
  const [row] = await db.run(others, [processId])
  return row?.run === true
}

/** Releases those of the instances that the process holds. */
export async function releaseInstances(
  db: Queryable,
  instances: readonly Pick<LeasedInstance, 'organization_id' | 'id'>[],
  processId: number,
): Promise<void> {
  await db.run(release, [
    instances.map(({ organization_id }) => organization_id),
    instances.map(({ id }) => id),
    processId,
  ])
}

/** Releases all instances of a process, which runs no linked devices any more. */
export async function releaseAllInstances(db: Queryable, processId: number): Promise<void> {
  await db.run(leave, [processId])
}

/**
 * Marks an instance as no longer wanted, unless it was requested meanwhile, and releases it; does nothing if the
 * process does not hold it. Needs a transaction, so that a request made while the row was locked is seen.
 */
export async function endLeasedInstance(
  transaction: Queryable,
  organizationId: string,
  id: string,
  processId: number,
): Promise<void> {
  await transaction.run(lock, [organizationId, id, processId])
  await transaction.run(end, [organizationId, id, processId])
}
