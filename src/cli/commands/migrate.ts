import { createLogger } from '../../log.js'
import { applyMigrations, openConfiguredDatabase, prepareSchema, requireConfig } from '../environment.js'
import type { Invocation } from '../invocation.js'
import { printDone } from '../output.js'

/** `parley migrate`: brings the database to this version; done again it changes nothing. */
export async function migrate({ env, streams }: Invocation): Promise<void> {
  const config = requireConfig(env)
  const { database, close } = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: false })
  try {
    const applied = await applyMigrations(database)
    // A schema that is newer has nothing to apply, and is not up to date.
    await prepareSchema(config, database, { migrate: false })
    printDone(streams, applied.length === 0 ? 'The database is up to date' : `Applied ${applied.join(', ')}`)
  } finally {
    await close()
  }
}
