import { migrate as migrateDatabase } from '../database/migrate.js'
import { TASK_NAMES } from '../jobs/tasks.js'
import { createLogger } from '../log.js'
import { type Environment, openConfiguredDatabase, requireConfig } from './environment.js'

/** `parley migrate`: brings the database to this version; done again it changes nothing. */
export async function migrate(env: Environment): Promise<void> {
  const config = requireConfig(env)
  const { database, close } = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: false })
  try {
    const applied = await migrateDatabase(database.pool, TASK_NAMES)
    process.stdout.write(applied.length === 0 ? 'The database is up to date\n' : `Applied ${applied.join(', ')}\n`)
  } finally {
    await close()
  }
}
