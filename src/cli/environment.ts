import { join } from 'node:path'
import { type Config, readConfig } from '../config.js'
import { EmbeddedDatabaseError, openEmbeddedDatabase, startEmbeddedDatabase } from '../database/embedded.js'
import { schemaState } from '../database/migrate.js'
import { type Connection, type Database, openDatabase } from '../database/pool.js'
import type { Logger } from '../log.js'
import { loadSecrets, type Secrets } from '../secrets.js'
import { CliFailure } from './failure.js'

/** The variables that a command was started with. */
export type Environment = Record<string, string | undefined>

/** The checked configuration. Throws a CliFailure of code 2 that names what is wrong. */
export function requireConfig(env: Environment): Config {
  const read = readConfig(env)
  if (!read.ok) throw new CliFailure(2, read.problem)
  return read.config
}

/** The secrets, made on first use. Throws a CliFailure of code 2. */
export async function requireSecrets(config: Config): Promise<Secrets> {
  const loaded = await loadSecrets(config)
  if (!loaded.ok) throw new CliFailure(2, loaded.problem)
  return loaded.secrets
}

/** An open database, and what ends it. */
export interface OpenDatabase {
  database: Database
  /** Resolves when an embedded server ended by itself; never for an external one. */
  ended: Promise<void>
  close(): Promise<void>
}

const POOL_SIZE = 20
const OLDEST_SERVER = 150_000

/**
 * Opens the configured database: the one at PARLEY_DATABASE_URL, or the embedded one. `serve` holds the embedded server
 * itself, other commands use the one that a running service holds. Throws a CliFailure of code 2.
 */
export async function openConfiguredDatabase(
  config: Config,
  log: Logger,
  { hold }: { hold: boolean },
): Promise<OpenDatabase> {
  const embedded = config.databaseUrl === undefined ? await openEmbedded(config, log, hold) : null
  const connection: Connection = embedded?.connection ?? { connectionString: config.databaseUrl ?? '' }
  const database = openDatabase(connection, POOL_SIZE, (error) =>
    log.warn({ err: error }, 'a database connection broke'),
  )
  const close = async () => {
    await database.close()
    await embedded?.stop()
  }
  try {
    await checkServer(database)
  } catch (error) {
    await close()
    throw new CliFailure(2, `${describe(config)}: ${(error as Error).message}`)
  }
  return { database, ended: embedded?.ended ?? new Promise(() => undefined), close }
}

/** Refuses a schema that is not this version's. Throws a CliFailure of code 2. */
export async function requireCurrentSchema(database: Database): Promise<void> {
  const state = await schemaState(database.pool)
  if (state === 'behind') {
    throw new CliFailure(
      2,
      "The database's schema is older than this version: run 'parley migrate', or serve with --migrate",
    )
  }
  if (state === 'ahead') {
    throw new CliFailure(
      2,
      "The database's schema is newer than this version: start the version that migrated it, or a later one",
    )
  }
}

async function openEmbedded(config: Config, log: Logger, hold: boolean) {
  // An error of a statement is told by whoever ran it; only what concerns the server itself is worth a line of its own.
  const tell = (message: string) => (/^(FATAL|PANIC|WARNING)/.test(message) ? log.warn(message) : log.debug(message))
  const options = { folder: join(config.dataDir, 'postgres'), log: tell }
  try {
    return await (hold ? startEmbeddedDatabase(options) : openEmbeddedDatabase(options))
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) throw new CliFailure(2, error.message)
    throw error
  }
}

async function checkServer(database: Database): Promise<void> {
  const { rows } = await database.pool.query('SHOW server_version_num').catch((error: Error) => {
    throw new Error(`cannot connect (${reasonOf(error)}): check host, port, database, user and password`)
  })
  if (Number(rows[0].server_version_num) < OLDEST_SERVER) {
    throw new Error('the server is older than PostgreSQL 15, the oldest that Parley works with')
  }
}

/** Node reports a refused connection to several addresses as one error without a text. */
function reasonOf(error: Error): string {
  if (error.message !== '') return error.message
  return error instanceof AggregateError ? String(error.errors[0]?.message) : error.name
}

function describe(config: Config): string {
  return config.databaseUrl === undefined ? 'The embedded database' : 'PARLEY_DATABASE_URL'
}
