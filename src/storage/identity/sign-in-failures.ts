import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

/**
 * How many wrong passwords are free, and the first and the longest lock; each lock is twice as long as the one before.
 */
export interface LockRule {
  free: number
  firstMs: number
  longestMs: number
}

// The table has no organization, so that it does not reveal whether there is one.
const count = statement<{ failures: number }>(
  'signInFailures.count',
  `INSERT INTO sign_in_failures AS f (name_hash, failures, failed_at) VALUES ($1, 1, $2)
   ON CONFLICT (name_hash) DO UPDATE SET
     failures = f.failures + 1,
     failed_at = $2,
     locked_until = CASE WHEN f.failures + 1 >= $3::integer
       THEN $2::timestamptz + least($5::float8, $4::float8 * 2 ^ least(f.failures + 1 - $3, 20)) * interval '1 millisecond' END
   WHERE f.locked_until IS NULL OR f.locked_until <= $2
   RETURNING f.failures`,
)

const findLock = statement<{ locked_until: Date | null }>(
  'signInFailures.findLock',
  'SELECT locked_until FROM sign_in_failures WHERE name_hash = $1',
)

const forget = statement<never>('signInFailures.forget', 'DELETE FROM sign_in_failures WHERE name_hash = $1')

const prune = statement<never>('signInFailures.prune', 'DELETE FROM sign_in_failures WHERE failed_at < $1')

/**
 * Counts an attempt as failed before it is made, so that concurrent attempts cannot exceed the limit; forgetFailures
 * undoes it. If the name is locked, returns until when, without counting.
 */
export async function countFailure(
  db: Queryable,
  nameHash: Buffer,
  now: Date,
  { free, firstMs, longestMs }: LockRule,
): Promise<{ lockedUntil: Date | null }> {
  for (;;) {
    const counted = await db.run(count, [nameHash, now, free, firstMs, longestMs])
    if (counted.length > 0) return { lockedUntil: null }
    const [lock] = await db.run(findLock, [nameHash])
    if (lock?.locked_until && lock.locked_until > now) return { lockedUntil: lock.locked_until }
    // Deleted in between, so this one counts.
  }
}

export async function forgetFailures(db: Queryable, nameHash: Buffer): Promise<void> {
  await db.run(forget, [nameHash])
}

/** Deletes the failures of names that were not tried since `before`. */
export async function pruneFailures(db: Queryable, before: Date): Promise<void> {
  await db.run(prune, [before])
}
