import type { Logger } from 'pino'
import type { Database } from '../database/pool.js'
import { statement } from '../database/statement.js'
import { batch } from '../lib/async/batcher.js'

const notify = statement<never>(
  'jobs.notify',
  `SELECT pg_notify('jobs:insert', json_build_object('count', $1::int)::text)`,
)

/**
 * Returns a function that notifies the workers of all processes about new jobs. Calls during a notification share the
 * next one: a notification inside each transaction would serialize the commits.
 */
export function createWake(database: Database, log: Logger): () => void {
  const wake = batch(async (calls: null[]) => {
    await database.run(notify, [calls.length])
    return calls
  }, Number.MAX_SAFE_INTEGER)
  // A lost notification only delays jobs: the workers poll every two seconds.
  return () => void wake(null).catch((error) => log.warn({ err: error }, 'the workers could not be notified'))
}
