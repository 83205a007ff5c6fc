import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'

// The phone of a business number still has what was erased here, and its history comes in over hours. So the addresses of
// who is erased meanwhile are kept for a while, as hashes.

/** How long after the last part of a history an erasure is still remembered, and for how long, in days. */
export const REMEMBERED_DAYS = 30

/** SQL: what is kept of an address of the organization $1. */
const hashOf = (address: string) => `sha256(convert_to($1::uuid::text || ' ' || ${address}, 'UTF8'))`

/**
 * SQL: remembers that the addresses are erased, if the history of a phone comes in, or has lately. `from`: rows with an
 * address each.
 */
export const rememberErased = (from: string) =>
  `INSERT INTO erased_addresses AS e (organization_id, hash)
     SELECT DISTINCT $1::uuid, ${hashOf('gone.address')} AS hash FROM ${from} gone
     WHERE EXISTS (SELECT FROM phone_history_chunks WHERE organization_id = $1) OR EXISTS (
       SELECT FROM phone_histories
       WHERE organization_id = $1 AND updated_at > now() - interval '${REMEMBERED_DAYS} days'
     )
     ORDER BY hash
     ON CONFLICT (organization_id, hash) DO UPDATE SET erased_at = excluded.erased_at`

const find = statement<{ at: Date | null }>(
  'erasedAddresses.find',
  `SELECT max(erased_at) AS at FROM erased_addresses
   WHERE organization_id = $1 AND hash = ANY (ARRAY(
     SELECT ${hashOf('address')} FROM unnest($2::text[]) AS address
   ))`,
)

const prune = sharedStatement<{ count: number }>(
  'erasedAddresses.prune',
  `WITH old AS (
     SELECT organization_id, hash FROM erased_addresses WHERE erased_at < $1 ORDER BY erased_at LIMIT $2
   ), pruned AS (
     DELETE FROM erased_addresses e USING old WHERE e.organization_id = old.organization_id AND e.hash = old.hash
     RETURNING 1
   )
   SELECT count(*) FROM pruned`,
)

/** When a person with one of the addresses was erased last, as far as that is remembered; else null. */
export async function findErasure(
  db: Queryable,
  organizationId: string,
  addresses: readonly string[],
): Promise<Date | null> {
  const [found] = await db.run(find, [organizationId, addresses])
  return found?.at ?? null
}

/** Forgets at most `limit` erasures from before `before`; resolves to how many. Of all organizations. */
export async function pruneErasedAddresses(db: Queryable, before: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [before, limit])
  return row?.count ?? 0
}
