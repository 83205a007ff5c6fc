import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { readConfig } from '../config/read.js'
import type { Config } from '../config/settings.js'
import { findProcesses } from '../core/processes/process-registry.js'
import { type Databases, openDatabases } from '../database/databases.js'
import { EmbeddedDatabaseError, openEmbeddedDatabase, startEmbeddedDatabase } from '../database/embedded.js'
import { migrate } from '../database/migrations/apply.js'
import { isOlder } from '../database/migrations/files.js'
import { readSchema, type Schema } from '../database/migrations/state.js'
import { type Connection, type Database, openDatabase } from '../database/pool.js'
import { createSecretBox } from '../lib/crypto/secret-box.js'
import type { Logger } from '../log.js'
import { loadSecrets, type Secrets } from '../secrets.js'
import { listEncryptedSamples } from '../storage/maintenance/encrypted-samples.js'
import { CliFailure } from './failure.js'
import type { Environment } from './invocation.js'
import { readUpSettings, type UpSettings } from './up-settings.js'

/**
 * The validated configuration; `up`: values in place of defaults. Throws a CliFailure with code 2 that names the
 * problem.
 */
export function requireConfig(env: Environment, up: UpSettings = {}): Config {
  const read = readConfig(env, up)
  if (!read.ok) throw new CliFailure(2, read.problem)
  return read.config
}

/** For commands next to the service: settings missing in the environment come from the last `up`. */
export async function requireSharedConfig(env: Environment): Promise<Config> {
  return requireConfig(env, await readUpSettings(requireConfig(env)))
}

/** The secrets, generated on first use. Throws a CliFailure with code 2. */
export async function requireSecrets(config: Config): Promise<Secrets> {
  const loaded = await loadSecrets(config)
  if (!loaded.ok) throw new CliFailure(2, loaded.problem)
  return loaded.secrets
}

/**
 * Throws a CliFailure with code 2 if credentials are stored, and none under a key of this process: it could use none,
 * and other processes could not read what it stores.
 */
export async function requireKnownKey(config: Config, database: Database, { masterKeys }: Secrets): Promise<void> {
  const samples = await listEncryptedSamples(database)
  const box = createSecretBox(masterKeys)
  if (samples.length === 0 || samples.some((sample) => box.knows(sample))) return
  const whose = config.masterKeys === undefined ? `that was generated in ${config.dataDir}` : 'of this process'
  throw new CliFailure(
    2,
    `The credentials in the database were encrypted with another PARLEY_SECRET than the one ${whose}: set the one that encrypted them, the same for every process`,
  )
}

/** An open database and how to close it. */
export interface OpenDatabase {
  /** For commands, and for preparing the schema: without limits. */
  database: Database
  connection: Connection
  /** Resolves if an embedded server ends on its own; never for an external one. */
  ended: Promise<void>
  close(): Promise<void>
}

/** A file in the data folder while a restore moves its parts there: they are no whole before. */
export const UNFINISHED_RESTORE = 'restore-is-unfinished'

/** A command needs few connections at a time. */
const COMMAND_CONNECTIONS = 10
const OLDEST_SERVER = 150_000

/**
 * Opens the configured database: the one at PARLEY_DATABASE_URL, or the embedded one. `serve` owns the embedded server;
 * other commands share that of a running service. Throws a CliFailure with code 2.
 */
export async function openConfiguredDatabase(
  config: Config,
  log: Logger,
  { hold }: { hold: boolean },
): Promise<OpenDatabase> {
  const embedded = config.databaseUrl === undefined ? await openEmbedded(config, log, hold) : null
  const connection: Connection = embedded?.connection ?? { connectionString: config.databaseUrl ?? '' }
  const errors = createErrorLog(log)
  const database = openDatabase(connection, COMMAND_CONNECTIONS, errors.onError)
  const close = async () => {
    errors.close()
    await database.close()
    await embedded?.stop()
  }
  try {
    await checkServer(database, connection)
  } catch (error) {
    await close()
    throw new CliFailure(2, `${describe(config)}: ${(error as Error).message}`)
  }
  return { database, connection, ended: embedded?.ended ?? new Promise(() => undefined), close }
}

/** Opens the connections of a service to an open database, for the roles of this process. */
export function openServiceDatabases(
  { databaseConnections, replicaUrl, roles }: Config,
  { connection }: OpenDatabase,
  log: Logger,
): Databases & { close(): Promise<void> } {
  const purposes = {
    servesRequests: roles.includes('api'),
    works: roles.includes('worker') || roles.includes('gateway'),
  }
  const errors = createErrorLog(log)
  const servers = {
    primary: connection,
    replica: replicaUrl === undefined ? null : { connectionString: replicaUrl },
  }
  const databases = openDatabases(servers, databaseConnections, purposes, errors.onError)
  const close = async () => {
    errors.close()
    await databases.close()
  }
  return { ...databases, close }
}

/** Logs errors of idle connections until `close`: errors while closing are expected. */
function createErrorLog(log: Logger): { onError: (error: Error) => void; close: () => void } {
  let closing = false
  return {
    // Logs the message only: the error contains the whole connection.
    onError: ({ message }) => {
      if (!closing) log.warn({ reason: message }, 'a database connection broke')
    },
    close: () => {
      closing = true
    },
  }
}

/**
 * Checks that this version can serve the database. The embedded one is migrated, another one only with `migrate`.
 * Resolves to its schema. Throws a CliFailure: code 2 for a schema that does not fit, code 1 for a failed migration.
 */
export async function prepareSchema(
  config: Config,
  database: Database,
  { migrate: wanted }: { migrate: boolean | 'if empty' },
): Promise<Schema> {
  const read = () =>
    readSchema(database.pool).catch((error: Error) => {
      throw new CliFailure(2, `${describe(config)}: the schema cannot be read (${reasonOf(error)})`)
    })
  const isWanted = wanted === 'if empty' ? (await read()).state === 'empty' : wanted
  if (isWanted || config.databaseUrl === undefined) await applyMigrations(database)
  const schema = await read()
  const problem = SCHEMA_PROBLEMS[schema.state]
  if (problem !== null) throw new CliFailure(2, problem)
  return schema
}

const SCHEMA_PROBLEMS = {
  current: null,
  empty: "The database has no tables of Parley yet: run 'parley migrate', or start with --migrate",
  behind: "The database's schema is older than this version: run 'parley migrate', or start with --migrate",
  ahead:
    "The database's schema is newer than this version: it lacks what this one needs; start the version that migrated it, or a later one",
  unreleased: 'This database was made by a version before 1.0.0, which is not supported: use an empty database',
} as const

/**
 * Applies missing migrations and returns their names. `contract`: also those that remove what the version before needs.
 * Throws a CliFailure with code 1.
 */
export async function applyMigrations(database: Database, { contract = false } = {}): Promise<string[]> {
  try {
    return await migrate(database.pool, { contract, beforeContract: (version) => requireNoneBefore(version, database) })
  } catch (error) {
    throw new CliFailure(1, `The database could not be brought to this version: ${reasonOf(error as Error)}`)
  }
}

/** Throws while processes run that are older than the version. */
async function requireNoneBefore(version: string, database: Database): Promise<void> {
  const processes = await findProcesses({ database })
  const older = processes.filter((process) => isOlder(process.version, version)).length
  if (older === 0) return
  const who = older === 1 ? '1 process' : `${older} processes`
  throw new Error(
    `${who} of a version before ${version} still need what is to be removed: stop them, or replace them by newer ones, and run 'parley migrate' again`,
  )
}

async function openEmbedded(config: Config, log: Logger, hold: boolean) {
  // Errors of statements are reported by their callers; only messages about the server are logged here.
  const tell = (message: string) => (/^(FATAL|PANIC|WARNING)/.test(message) ? log.warn(message) : log.debug(message))
  const options = { folder: join(config.dataDir, 'postgres'), log: tell }
  try {
    if (existsSync(join(config.dataDir, UNFINISHED_RESTORE)))
      throw new CliFailure(2, `A restore into ${config.dataDir} was interrupted: run it again, with --replace`)
    return await (hold ? startEmbeddedDatabase(options) : openEmbeddedDatabase(options))
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) throw new CliFailure(2, error.message)
    throw error
  }
}

async function checkServer(database: Database, connection: Connection): Promise<void> {
  const { rows } = await database.pool.query('SHOW server_version_num').catch(async (error: Error) => {
    if (isTimeout(error) && (await acceptsConnections(connection))) {
      throw new Error(
        'it accepts connections and answers nothing: check host and port; if they are right, restart PostgreSQL or its pooler',
      )
    }
    throw new Error(`cannot connect (${reasonOf(error)}): check host, port, database, user and password`)
  })
  if (Number(rows[0].server_version_num) < OLDEST_SERVER) {
    throw new Error('the server is older than PostgreSQL 15, the oldest that Parley works with')
  }
}

function isTimeout({ message }: Error): boolean {
  return /connection timeout|timeout exceeded/.test(message)
}

const ACCEPT_MS = 2_000

/** Whether a server listens at the address: one that does not answer then hangs. */
async function acceptsConnections(connection: Connection): Promise<boolean> {
  const { host, port } = new pg.Client(connection)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(ACCEPT_MS) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Node reports a refused connection to several addresses as one error without a text. */
function reasonOf(error: Error): string {
  if (isTimeout(error)) return 'no PostgreSQL answered in time'
  if (error.message !== '') return error.message
  return error instanceof AggregateError ? String(error.errors[0]?.message) : error.name
}

function describe(config: Config): string {
  return config.databaseUrl === undefined ? 'The embedded database' : 'PARLEY_DATABASE_URL'
}
