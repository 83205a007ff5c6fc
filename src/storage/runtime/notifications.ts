import type { PoolClient } from 'pg'
import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

/** Of the notifications by which processes of the service tell each other that there is something new. */
const CHANNEL = 'parley_signals'

const notify = statement<never>('signals.notify', `SELECT pg_notify('${CHANNEL}', $1)`)

/** Tells the processes that listen, this one too. `payload`: less than 8,000 bytes. */
export async function notifyProcesses(db: Queryable, payload: string): Promise<void> {
  await db.run(notify, [payload])
}

/** From now on the connection hears what processes are told, as its `notification`. */
export async function listenToProcesses(connection: PoolClient): Promise<void> {
  await connection.query(`LISTEN ${CHANNEL}`)
}
