import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

/**
 * Until when a number is reserved. Reservations end within seconds, so a time beyond a minute was written while the
 * server's clock was wrong, and counts as none.
 */
const RESERVED_UNTIL = `CASE WHEN p.paced_until <= clock_timestamp() + interval '1 minute' THEN p.paced_until END`

// A reservation begins where the last one ends, or now; none is made that would begin too late.
const reserve = statement<{ reserved: boolean; wait_ms: number }>(
  'sendingPaces.reserve',
  `WITH reserved AS (
     INSERT INTO sending_paces AS p (organization_id, phone_number_id, paced_until)
     VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     ON CONFLICT (organization_id, phone_number_id) DO UPDATE
       SET paced_until = greatest(${RESERVED_UNTIL}, clock_timestamp()) + $3 * interval '1 millisecond'
       WHERE coalesce(${RESERVED_UNTIL} <= clock_timestamp() + $4 * interval '1 millisecond', true)
     RETURNING paced_until - $3 * interval '1 millisecond' AS begins_at
   )
   SELECT true AS reserved, extract(epoch FROM begins_at - clock_timestamp())::float8 * 1000 AS wait_ms FROM reserved
   UNION ALL
   SELECT false, extract(epoch FROM p.paced_until - clock_timestamp())::float8 * 1000
   FROM sending_paces p
   WHERE p.organization_id = $1 AND p.phone_number_id = $2 AND NOT EXISTS (SELECT FROM reserved)`,
)

/**
 * Reserves the next `durationMs` of a business number's time if they begin within `maxWaitMs`. `waitMs`: until they
 * begin, or would begin.
 */
export async function reserveSendTime(
  db: Queryable,
  organizationId: string,
  phoneNumberId: string,
  { durationMs, maxWaitMs }: { durationMs: number; maxWaitMs: number },
): Promise<{ reserved: boolean; waitMs: number }> {
  const [row] = await db.run(reserve, [organizationId, phoneNumberId, durationMs, maxWaitMs])
  return { reserved: row?.reserved ?? false, waitMs: Math.max(0, row?.wait_ms ?? 0) }
}
