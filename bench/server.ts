import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import pg from 'pg'
import { startEmbeddedDatabase } from '../src/database/embedded.js'
import type { Cleanup } from './cleanup.js'
import { cpuOfTree, parentOf } from './processes.js'

/** One run of the benchmark. */
export interface Run extends Cleanup {
  /**
   * The server to measure, as the URL of one of its databases; null: an embedded server, which the run starts itself.
   */
  databaseUrl: string | null
}

/** A separate database on a PostgreSQL server. */
export interface Server {
  /** For inspecting the database and for checkpoints, never used for load. */
  database: pg.Pool
  /** The URL of the database for PARLEY_DATABASE_URL. */
  url: string
  /** Seconds of CPU of all processes of the server; NaN if it runs on another machine. */
  cpu(): number
  /** Creates another database on the server; resolves to its URL. */
  createDatabase(name: string): Promise<string>
  /**
   * Stops an embedded server, so that another can be started on its folder; only closes the pool of an external one.
   */
  stop(): Promise<void>
}

/**
 * Opens the database of the folder with its data, and creates it the first time. `settings` are additional settings of
 * an embedded server; an external server keeps its own. `run` removes the database at its end.
 */
export function startServer(run: Run, folder: string, settings: Record<string, string> = {}): Promise<Server> {
  return run.databaseUrl === null ? startEmbedded(run, folder, settings) : openExternal(run, run.databaseUrl, folder)
}

/** Describes the server of a run in one line. */
export async function describeServer({ databaseUrl }: Run): Promise<string> {
  if (databaseUrl === null) return 'PostgreSQL: embedded, with the settings that the service gives it'
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `SELECT name, current_setting(name) AS value
       FROM unnest(ARRAY['server_version', 'fsync', 'synchronous_commit', 'shared_buffers', 'jit']) AS name`,
    )
    return `PostgreSQL: external, ${rows.map(({ name, value }) => `${name} ${value}`).join(', ')}`
  })
}

async function startEmbedded(cleanup: Cleanup, folder: string, settings: Record<string, string>): Promise<Server> {
  const starting = startEmbeddedDatabase({ folder: join(folder, 'postgres'), settings })
  cleanup.add(() =>
    starting.then(
      ({ stop }) => stop(),
      () => undefined,
    ),
  )
  const { connection, stop } = await starting
  const addressOf = (name: string) =>
    `postgres://${connection.user}@localhost:${connection.port}/${name}?host=${encodeURIComponent(connection.host)}`
  const url = addressOf(connection.database)
  const database = openPool(cleanup, url)
  const pidFile = await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')
  const postmasterPid = Number(pidFile.split('\n')[0])
  return {
    database,
    url,
    cpu: () => cpuOfTree(postmasterPid),
    createDatabase: async (name) => {
      await database.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`)
      return addressOf(name)
    },
    stop: async () => {
      await database.end()
      await stop()
    },
  }
}

async function openExternal(cleanup: Cleanup, serverUrl: string, folder: string): Promise<Server> {
  const name = basename(folder)
  const create = async (database: string) => {
    const identifier = pg.escapeIdentifier(database)
    await withClient(serverUrl, (client) => client.query(`CREATE DATABASE ${identifier}`))
    cleanup.add(() =>
      withClient(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${identifier} WITH (FORCE)`)).then(),
    )
    await withClient(atDatabase(serverUrl, database), addUuidv7)
    return atDatabase(serverUrl, database)
  }
  const known = await withClient(serverUrl, (client) =>
    client.query('SELECT FROM pg_database WHERE datname = $1', [name]),
  )
  const url = known.rowCount === 0 ? await create(name) : atDatabase(serverUrl, name)
  const database = openPool(cleanup, url)
  const postmasterPid = await findPostmaster(database, name)
  return {
    database,
    url,
    cpu: () => (postmasterPid === null ? Number.NaN : cpuOfTree(postmasterPid)),
    createDatabase: (suffix) => create(`${name}_${suffix}`),
    stop: () => database.end(),
  }
}

/** Opens a database for inspection; `cleanup` closes it. */
export function openPool(cleanup: Cleanup, connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 2 })
  pool.on('error', () => undefined) // the server stops before its clients after an interruption
  cleanup.add(() => (pool.ended ? Promise.resolve() : pool.end()))
  return pool
}

async function withClient<Result>(
  connectionString: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The data uses version 7 UUIDs, which PostgreSQL can generate from version 18 on. */
async function addUuidv7(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`SELECT FROM pg_proc WHERE proname = 'uuidv7'`)
  if (rowCount !== 0) return
  await client.query(
    `CREATE FUNCTION uuidv7(shift interval DEFAULT '0') RETURNS uuid LANGUAGE sql VOLATILE AS $$
       SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
         substring(int8send(floor(extract(epoch FROM clock_timestamp() + shift) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
         52, 1), 53, 1), 'hex')::uuid
     $$`,
  )
}

function atDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/**
 * The main process of the server; null unless it runs on this machine. Its processes are found by their titles, which
 * contain the database name.
 */
async function findPostmaster(database: pg.Pool, name: string): Promise<number | null> {
  const { rows } = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const pid = rows[0]?.pid ?? 0
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name) ? parentOf(pid) : null
  } catch {
    return null // this machine has no such process
  }
}
