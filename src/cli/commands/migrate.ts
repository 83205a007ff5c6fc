import { createLogger } from '../../log.js'
import { applyMigrations, openConfiguredDatabase, prepareSchema, requireConfig } from '../environment.js'
import type { Invocation } from '../invocation.js'
import { printDone } from '../output.js'

/** `parley migrate`: brings the database to this version; it can be repeated. */
export async function migrate({ env, streams }: Invocation): Promise<void> {
  const config = requireConfig(env)
  const { database, close } = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: false })
  try {
    const applied = await applyMigrations(database)
    // A newer schema has nothing to apply but is an error.
    await prepareSchema(config, database, { migrate: false })
    printDone(streams, applied.length === 0 ? 'The database is up to date' : `Applied ${applied.join(', ')}`)
  } finally {
    await close()
  }
}
