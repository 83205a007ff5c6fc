import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

interface LeaseRow {
  granted: number
  left: number
}

const open = statement<never>(
  'rateLimits.open',
  `INSERT INTO rate_limits (organization_id, key_id, tokens) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
)

// After the server's clock was set back, no time has passed since the last lease.
const lease = statement<LeaseRow>(
  'rateLimits.lease',
  `WITH bucket AS (
     SELECT least($4, tokens + $3 * greatest(0, extract(epoch FROM clock_timestamp() - refilled_at))) AS available
     FROM rate_limits WHERE organization_id = $1 AND key_id = $2 FOR UPDATE
   ), taken AS (
     SELECT available, least($5, greatest(0, floor(available))) AS granted FROM bucket
   )
   UPDATE rate_limits r
   SET tokens = taken.available - taken.granted, refilled_at = clock_timestamp()
   FROM taken
   WHERE r.organization_id = $1 AND r.key_id = $2
   RETURNING taken.granted::float8 AS granted, r.tokens AS left`,
)

/**
 * Takes up to `wanted` tokens from the key's bucket, which holds at most `burst` and gains `rate` per second. `left` is
 * the remaining number.
 */
export async function leaseTokens(
  db: Queryable,
  organizationId: string,
  keyId: string,
  { rate, burst, wanted }: { rate: number; burst: number; wanted: number },
): Promise<LeaseRow> {
  const [row] = await db.run(lease, [organizationId, keyId, rate, burst, wanted])
  if (row) return row
  await db.run(open, [organizationId, keyId, burst])
  return leaseTokens(db, organizationId, keyId, { rate, burst, wanted })
}
