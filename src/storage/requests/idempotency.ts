import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'

/** One use of an Idempotency-Key; keys are separate per organization, method and path. */
export interface IdempotentOperation {
  /** Method and path, such as `POST /send-chat`. */
  operation: string
  key: string
  bodyHash: Buffer
}

/**
 * The state of a key. `claimed`: this request is the first and must do the work. `isOverdue`: its request has ended, even
 * if its process lives.
 */
export type IdempotencyClaim =
  | { state: 'claimed'; resourceId: string }
  | { state: 'reused' }
  | { state: 'under_way'; resourceId: string; processId: number; isOverdue: boolean }
  | { state: 'answered'; resourceId: string; status: number; answer: unknown }

interface ClaimRow {
  claimed: boolean
  body_hash: Buffer
  resource_id: string
  process_id: number
  status: number | null
  answer: unknown
  is_overdue: boolean
}

/**
 * Hardly any request takes so long. If the database goes away during one, its process cannot say that it has ended, and
 * the key would be in progress as long as that process lives. One that still runs does nothing twice: both attempts would
 * create the same resource.
 */
const LONGEST_REQUEST = '2 minutes'

// A key older than a day is free again. The row of a concurrent first attempt may be invisible to the second select;
// the caller tries again.
const claim = statement<ClaimRow>(
  'idempotencyKeys.claim',
  `WITH claimed AS (
     INSERT INTO idempotency_keys AS k (organization_id, operation, key, body_hash, resource_id, process_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (organization_id, operation, key) DO UPDATE
       SET body_hash = excluded.body_hash, resource_id = excluded.resource_id, process_id = excluded.process_id,
         status = NULL, answer = NULL, created_at = excluded.created_at
       WHERE k.created_at < excluded.created_at - interval '24 hours'
     RETURNING body_hash, resource_id, process_id, status, answer
   )
   SELECT true AS claimed, body_hash, resource_id, process_id, status, answer, false AS is_overdue FROM claimed
   UNION ALL
   SELECT false, body_hash, resource_id, process_id, status, answer, created_at < $7::timestamptz - interval '${LONGEST_REQUEST}'
   FROM idempotency_keys
   WHERE organization_id = $1 AND operation = $2 AND key = $3 AND NOT EXISTS (SELECT FROM claimed)`,
)

const takeOver = statement<{ resource_id: string }>(
  'idempotencyKeys.takeOver',
  `UPDATE idempotency_keys SET process_id = $6, created_at = $7
   WHERE organization_id = $1 AND operation = $2 AND key = $3 AND resource_id = $4 AND process_id = $5 AND status IS NULL
   RETURNING resource_id`,
)

// Process ids begin at 1, so 0 stands for none.
const abandon = statement<never>(
  'idempotencyKeys.abandon',
  `UPDATE idempotency_keys SET process_id = 0
   WHERE organization_id = $1 AND operation = $2 AND key = $3 AND resource_id = $4 AND status IS NULL`,
)

const keep = statement<never>(
  'idempotencyKeys.keep',
  `UPDATE idempotency_keys SET status = $4, answer = $5
   WHERE organization_id = $1 AND operation = $2 AND key = $3 AND resource_id = $6`,
)

const release = statement<never>(
  'idempotencyKeys.release',
  `DELETE FROM idempotency_keys
   WHERE organization_id = $1 AND operation = $2 AND key = $3 AND resource_id = $4 AND status IS NULL`,
)

// By the ids stored with the keys, which are in the order of time and indexed.
const prune = sharedStatement<{ count: number }>(
  'idempotencyKeys.prune',
  `WITH old AS (
     SELECT k.organization_id, k.resource_id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT organization_id, resource_id FROM idempotency_keys
       WHERE organization_id = o.id AND resource_id < $1
       ORDER BY resource_id
       LIMIT $2
     ) k
     LIMIT $2
   ), pruned AS (
     DELETE FROM idempotency_keys k USING old
     WHERE k.organization_id = old.organization_id AND k.resource_id = old.resource_id
     RETURNING k.key
   )
   SELECT count(*) FROM pruned`,
)

/** Claims the key for this attempt, made at `at`, or returns what an earlier one left. */
export async function claimIdempotencyKey(
  db: Queryable,
  organizationId: string,
  { operation, key, bodyHash }: IdempotentOperation,
  attempt: { resourceId: string; processId: number; at: Date },
): Promise<IdempotencyClaim> {
  const values = [organizationId, operation, key, bodyHash, attempt.resourceId, attempt.processId, attempt.at]
  const [row] = await db.run(claim, values)
  if (!row) return claimIdempotencyKey(db, organizationId, { operation, key, bodyHash }, attempt)
  if (row.claimed) return { state: 'claimed', resourceId: row.resource_id }
  if (!row.body_hash.equals(bodyHash)) return { state: 'reused' }
  const { resource_id: resourceId, process_id: processId, status, answer, is_overdue: isOverdue } = row
  return status === null
    ? { state: 'under_way', resourceId, processId, isOverdue }
    : { state: 'answered', resourceId, status, answer }
}

/** Moves an abandoned or overdue attempt from one process to another, at `at`; false if another request was faster. */
export async function takeOverIdempotencyKey(
  db: Queryable,
  organizationId: string,
  { operation, key }: IdempotentOperation,
  { resourceId, from, to, at }: { resourceId: string; from: number; to: number; at: Date },
): Promise<boolean> {
  const rows = await db.run(takeOver, [organizationId, operation, key, resourceId, from, to, at])
  return rows.length > 0
}

/** Marks an attempt as abandoned; the next one finds out its outcome. */
export async function abandonIdempotencyKey(
  db: Queryable,
  organizationId: string,
  { operation, key }: IdempotentOperation,
  resourceId: string,
): Promise<void> {
  await db.run(abandon, [organizationId, operation, key, resourceId])
}

/** Stores the answer for repeated requests. */
export async function keepAnswer(
  db: Queryable,
  organizationId: string,
  { operation, key }: IdempotentOperation,
  { resourceId, answer }: { resourceId: string; answer: { status: number; body: unknown } },
): Promise<void> {
  await db.run(keep, [organizationId, operation, key, answer.status, JSON.stringify(answer.body), resourceId])
}

/** Frees the key after nothing was done; the next attempt starts over. */
export async function releaseIdempotencyKey(
  db: Queryable,
  organizationId: string,
  { operation, key }: IdempotentOperation,
  resourceId: string,
): Promise<void> {
  await db.run(release, [organizationId, operation, key, resourceId])
}

/** Deletes at most `limit` keys with smaller resource ids and returns their number. Of all organizations. */
export async function pruneIdempotencyKeys(db: Queryable, beforeId: string, limit: number): Promise<number> {
  const [row] = await db.run(prune, [beforeId, limit])
  return row?.count ?? 0
}
