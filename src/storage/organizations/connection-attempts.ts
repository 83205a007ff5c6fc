import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

const begin = statement<{ begun: boolean }>(
  'connectionAttempts.begin',
  `INSERT INTO connection_attempts AS a (organization_id, id, verify_token_hash, expires_at)
   VALUES ($1, $2, $3, now() + $4 * interval '1 second')
   ON CONFLICT (organization_id) DO UPDATE SET
     id = excluded.id, verify_token_hash = excluded.verify_token_hash, expires_at = excluded.expires_at
   WHERE a.expires_at < now()
   RETURNING true AS begun`,
)

const end = statement<never>(
  'connectionAttempts.end',
  'DELETE FROM connection_attempts WHERE organization_id = $1 AND id = $2',
)

const keepToken = statement<never>(
  'connectionAttempts.keepToken',
  `WITH further AS (
     UPDATE instances SET verify_token_hash = $3, updated_at = now()
     WHERE organization_id = $1 AND phone_number_id = $2 AND kind = 'business_api'
   )
   UPDATE upstream_settings SET verify_token_hash = $3, updated_at = now()
   WHERE organization_id = $1 AND phone_number_id = $2`,
)

/** An attempt to connect a number, with the hash of the verify token that it gives the upstream. */
export interface ConnectionAttempt {
  id: string
  verifyTokenHash: Buffer
  /** After so many seconds another attempt may begin, although this one has not ended. */
  seconds: number
}

/** Begins an attempt; false while another one of the organization is under way. */
export async function beginConnectionAttempt(
  db: Queryable,
  organizationId: string,
  { id, verifyTokenHash, seconds }: ConnectionAttempt,
): Promise<boolean> {
  return (await db.run(begin, [organizationId, id, verifyTokenHash, seconds])).length > 0
}

/** Ends an attempt; its verify token is forgotten, unless it was kept. */
export async function endConnectionAttempt(db: Queryable, organizationId: string, id: string): Promise<void> {
  await db.run(end, [organizationId, id])
}

/** Stores the hash of the verify token that the upstream has accepted for this number, if it is still the one. */
export async function keepVerifyToken(
  db: Queryable,
  organizationId: string,
  phoneNumberId: string,
  hash: Buffer,
): Promise<void> {
  await db.run(keepToken, [organizationId, phoneNumberId, hash])
}
