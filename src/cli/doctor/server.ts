import type { PoolClient } from 'pg'
import type { Database } from '../../database/pool.js'
import { type Check, type Finding, failed, ok, warning } from './check.js'

const STATEMENT_MS = 6_000
const DIRECT =
  'connect to PostgreSQL directly, or to a pooler in session mode (docs/production.md#postgresql); poolers in transaction mode do not work'
const REACH = 'start PostgreSQL, or restart it if it hangs (docs/runbook.md#parleydatabaseunreachable)'
const RIGHTS = 'let the role own the database (docs/production.md#roles)'
const OLDEST_SERVER = 150_000
/**
 * The oid of PostgreSQL's bootstrap superuser, which cannot lose that right. A container image names it as its settings
 * say, so it may be the only role there is. Packages name it `postgres`: then Parley should have a role of its own.
 */
const BOOTSTRAP_SUPERUSER = 10
const EXTENSIONS = ['pg_trgm', 'btree_gin']

type Server = Pick<Database, 'pool'>

/**
 * The checks of the PostgreSQL server, its role and its connections. `connections`: how many a process opens at most.
 * `isEmbedded`: Parley set the server up itself, so its locale and its role are as they are meant to be.
 */
export function serverChecks(server: Server, connections: number, { isEmbedded = false } = {}): Check[] {
  const on = (name: string, remedy: string, look: (client: PoolClient) => Promise<Finding>): Check => {
    return { name, remedy, run: () => withSession(server, look) }
  }
  const toCreate = `as an administrator: CREATE EXTENSION ${EXTENSIONS.join('; CREATE EXTENSION ')}`
  return [
    on('database', REACH, (client) => checkVersion(client, isEmbedded)),
    on('safety', 'turn them on', checkSafety),
    ...(isEmbedded ? [] : [on('rights', RIGHTS, checkRights)]),
    on('extensions', toCreate, checkExtensions),
    on('connections', 'raise max_connections on the server', (client) => checkConnections(client, connections)),
    { name: 'pooler', remedy: DIRECT, run: () => checkPooler(server) },
  ]
}

async function checkVersion(client: PoolClient, isEmbedded: boolean): Promise<Finding> {
  const { number, version, standby, encoding, collation } = await one(
    client,
    `SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS version,
       pg_is_in_recovery() AS standby, current_setting('server_encoding') AS encoding,
       (SELECT datcollate FROM pg_database WHERE datname = current_database()) AS collation`,
  )
  const found = `the database is reachable: PostgreSQL ${version}, ${encoding}, locale ${collation}`
  if (number < OLDEST_SERVER) return failed(found, 'use PostgreSQL 15 or later')
  if (standby) return failed(`${found}; it is a standby`, 'connect to the primary server')
  if (encoding !== 'UTF8') return failed(found, "create the database with ENCODING 'UTF8'")
  if (collation === 'C' && !isEmbedded)
    return warning(found, 'searches for non-Latin text cannot use the index: use C.UTF-8')
  return ok(found)
}

async function checkSafety(client: PoolClient): Promise<Finding> {
  const { rows } = await client.query(
    `SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'`,
  )
  if (rows.length === 0) return ok('fsync and full_page_writes are on')
  const found = `off: ${rows.map(({ name }) => name).join(', ')}`
  return failed(found, 'turn them on: without them a crash loses messages or destroys the database')
}

async function checkRights(client: PoolClient): Promise<Finding> {
  const {
    role,
    super: isSuperuser,
    bootstrap: isBootstrap,
    owns,
    creates,
    fills,
  } = await one(
    client,
    `SELECT current_user AS role, r.rolsuper AS super, r.oid = ${BOOTSTRAP_SUPERUSER} AND r.rolname <> 'postgres' AS bootstrap,
       has_database_privilege(d.oid, 'CREATE') AS creates,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS fills,
       pg_has_role(current_user, d.datdba, 'USAGE') AS owns
     FROM pg_database d, pg_roles r WHERE d.datname = current_database() AND r.rolname = current_user`,
  )
  if (!fills) return failed(`${role} may not create tables`, RIGHTS)
  if (isBootstrap)
    return ok(
      `${role} is the superuser with which the server was created; a server that only Parley uses needs no other role`,
    )
  if (isSuperuser)
    return warning(`${role} is a superuser`, 'use a role that only owns its database (docs/production.md#roles)')
  if (!owns || !creates) return warning(`${role} does not own the database`, RIGHTS)
  return ok(`${role} owns the database and is no superuser`)
}

async function checkExtensions(client: PoolClient): Promise<Finding> {
  const { rows } = await client.query('SELECT extname FROM pg_extension WHERE extname = ANY ($1)', [EXTENSIONS])
  const missing = EXTENSIONS.filter((name) => !rows.some(({ extname }) => extname === name))
  if (missing.length === 0) return ok(`${EXTENSIONS.join(' and ')} are installed`)
  // Rolled back, so that nothing stays, even if this process is killed.
  await client.query('BEGIN')
  try {
    for (const name of missing) await client.query(`CREATE EXTENSION ${name}`)
  } finally {
    await client.query('ROLLBACK')
  }
  return ok(`${missing.join(' and ')} can be created`)
}

async function checkConnections(client: PoolClient, wanted: number): Promise<Finding> {
  const { most, used } = await one(
    client,
    `SELECT least(
         current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
         nullif((SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user), -1),
         nullif((SELECT datconnlimit FROM pg_database WHERE datname = current_database()), -1)
       ) AS most,
       (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`,
  )
  const found = `${used} of ${most} connections are in use; a process of Parley opens up to ${wanted}`
  if (most < wanted) return failed(found, 'raise max_connections, or lower PARLEY_DATABASE_CONNECTIONS')
  if (most - used < wanted) {
    return warning(found, 'before another process starts, raise max_connections or lower PARLEY_DATABASE_CONNECTIONS')
  }
  return ok(found)
}

/** Advisory locks, notifications and prepared statements need connections that keep their session. */
function checkPooler(server: Server): Promise<Finding> {
  const take = 'SELECT pg_try_advisory_lock(1885433188, $1) AS taken, pg_backend_pid() AS pid'
  const key = Math.floor(Math.random() * 2 ** 31)
  return withSession(server, async (holder) => {
    const first = await one(holder, take, [key])
    // A pooler that shares sessions gives the second connection the session of the first one, with its lock.
    const second = await withSession(server, (other) => one(other, take, [key]))
    const again = await one(holder, 'SELECT pg_backend_pid() AS pid, pg_advisory_unlock(1885433188, $1) AS freed', [
      key,
    ])
    const isKept = first.taken && !second.taken && again.freed && again.pid === first.pid && second.pid !== first.pid
    return isKept
      ? ok('each connection keeps its session')
      : failed('a pooler in transaction mode is in front of the database', DIRECT)
  })
}

/** Gives `look` a connection of its own, which is closed afterwards. Statements have a time limit. */
async function withSession<Result>({ pool }: Server, look: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query(`SET statement_timeout = ${STATEMENT_MS}`)
    return await look(client)
  } finally {
    client.release(true)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each statement has columns of its own
async function one(client: PoolClient, sql: string, values: unknown[] = []): Promise<any> {
  return (await client.query(sql, values)).rows[0]
}
