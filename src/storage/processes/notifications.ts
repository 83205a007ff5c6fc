import type { PoolClient } from 'pg'
import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/** The PostgreSQL channel of notifications between processes. */
const CHANNEL = 'parley_signals'

const notify = sharedStatement<never>('signals.notify', `SELECT pg_notify('${CHANNEL}', $1)`)

/** Notifies all listening processes, including this one. `payload`: less than 8,000 bytes. */
export async function notifyProcesses(db: Queryable, payload: string): Promise<void> {
  await db.run(notify, [payload])
}

/** Subscribes the connection; notifications arrive as its `notification` event. */
export async function listenToProcesses(connection: PoolClient): Promise<void> {
  await connection.query(`LISTEN ${CHANNEL}`)
}
