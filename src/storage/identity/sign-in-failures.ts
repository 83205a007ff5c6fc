import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/**
 * How many wrong passwords are free, and the first and the longest lock; each lock is twice as long as the one before.
 */
export interface LockRule {
  free: number
  firstMs: number
  longestMs: number
}

// The table has no organization, so that it does not reveal whether there is one.
const count = sharedStatement<{ failures: number }>(
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

const find = sharedStatement<{ locked_until: Date | null }>(
  'signInFailures.findLock',
  'SELECT locked_until FROM sign_in_failures WHERE name_hash = $1',
)

const forget = sharedStatement<never>(
  'signInFailures.forget',
  'DELETE FROM sign_in_failures WHERE name_hash = ANY ($1)',
)

const prune = sharedStatement<never>('signInFailures.prune', 'DELETE FROM sign_in_failures WHERE failed_at < $1')

const trim = sharedStatement<never>(
  'signInFailures.trim',
  `DELETE FROM sign_in_failures
   WHERE failed_at <= (SELECT failed_at FROM sign_in_failures ORDER BY failed_at DESC OFFSET $1 LIMIT 1)`,
)

/**
 * Counts an attempt as failed before it is made, so that concurrent attempts cannot exceed the limit; forgetFailures
 * undoes it. If it is locked, returns until when, without counting; else null. `nameHash`: the hash of a name, or of a
 * name and a source.
 */
export async function countFailure(
  db: Queryable,
  nameHash: Buffer,
  now: Date,
  { free, firstMs, longestMs }: LockRule,
): Promise<Date | null> {
  for (;;) {
    const counted = await db.run(count, [nameHash, now, free, firstMs, longestMs])
    if (counted.length > 0) return null
    const lockedUntil = await findLock(db, nameHash, now)
    if (lockedUntil !== null) return lockedUntil
    // Deleted in between, so this one counts.
  }
}

/** Until when the name, or the name for a source, is locked; null: it is not. */
export async function findLock(db: Queryable, nameHash: Buffer, now: Date): Promise<Date | null> {
  const [row] = await db.run(find, [nameHash])
  return row?.locked_until && row.locked_until > now ? row.locked_until : null
}

export async function forgetFailures(db: Queryable, nameHashes: readonly Buffer[]): Promise<void> {
  await db.run(forget, [nameHashes])
}

/** Keeps the newest failures only, `max` of them, so that invented names do not fill the disk. */
export async function trimFailures(db: Queryable, max: number): Promise<void> {
  await db.run(trim, [max])
}

/** Deletes the failures of names that were not tried since `before`. */
export async function pruneFailures(db: Queryable, before: Date): Promise<void> {
  await db.run(prune, [before])
}
