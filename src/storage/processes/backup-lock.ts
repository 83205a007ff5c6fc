import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/** The advisory lock that a backup holds, so that no file of a message is removed between its database and its files. */
export const BACKUP_LOCK = 8_097_862_305_178_542

const tryLock = sharedStatement<{ taken: boolean }>(
  'backupLock.share',
  `SELECT pg_try_advisory_xact_lock_shared(${BACKUP_LOCK}) AS taken`,
)

/** Keeps a backup from starting until the end of the transaction; false if one is running. */
export async function holdOffBackups(transaction: Queryable): Promise<boolean> {
  const [row] = await transaction.run(tryLock, [])
  return row?.taken === true
}
