import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { PoolClient } from 'pg'
import type { Database } from '../../database/pool.js'
import { type Check, type Finding, failed, ok, warning } from './check.js'
import { rolledBack, withSession } from './session.js'

const DIRECT =
  'connect to PostgreSQL directly, or to a pooler in session mode (docs/production.md#postgresql); poolers in transaction mode do not work'
const RIGHTS = 'let the role own the database (docs/production.md#roles)'
const OLDEST_SERVER = 150_000
const EXTENSIONS = ['pg_trgm', 'btree_gin']
const ROUNDS = 20
const SLOW_STATEMENT_MS = 5
const SLOW_COMMIT_MS = 25
const CLOCKS_APART_MS = 2_000
const NOTIFIED_MS = 5_000

type Server = Pick<Database, 'pool'>

/**
 * The checks of what Parley stands on, for any server that speaks PostgreSQL, also for a database that is not Parley's
 * yet. `connections`: how many a process opens at most. `isEmbedded`: Parley set the server up itself, so its locale,
 * its role and its log are as they are meant to be.
 */
export function serverChecks(server: Server, connections: number, { isEmbedded = false } = {}): Check[] {
  const on = (name: string, remedy: string, look: (client: PoolClient) => Promise<Finding>): Check => {
    return { name, remedy, run: () => withSession(server, look) }
  }
  return [
    on('server', 'use PostgreSQL 15 or later', (client) => checkVersion(client, isEmbedded)),
    on('safety', 'set them on the server', checkSafety),
    ...(isEmbedded ? [] : [on('rights', RIGHTS, checkRights)]),
    on(
      'extensions',
      `as an administrator: CREATE EXTENSION ${EXTENSIONS.join('; CREATE EXTENSION ')}`,
      checkExtensions,
    ),
    on('connections', 'raise max_connections on the server', (client) => checkConnections(client, connections)),
    { name: 'notifications', remedy: DIRECT, run: () => checkNotifications(server) },
    { name: 'advisory locks', remedy: DIRECT, run: () => checkLocks(server) },
    { name: 'prepared statements', remedy: DIRECT, run: () => checkPrepared(server) },
    on('transaction ids', 'use an engine with the transaction ids of PostgreSQL', checkTransactionIds),
    on('timeline', 'grant the role EXECUTE on pg_control_system() and pg_walfile_name(pg_lsn)', checkTimeline),
    on('tables', RIGHTS, checkTables),
    ...(isEmbedded
      ? []
      : [
          on(
            'publications',
            'only copying the rows of an organization to another server needs them; Parley does not',
            checkPublications,
          ),
        ]),
    on('latency', 'use an engine that lets a transaction write to the log', checkLatency),
    on('clock', 'keep both clocks with NTP', checkClock),
  ]
}

async function checkVersion(client: PoolClient, isEmbedded: boolean): Promise<Finding> {
  const { number, version, standby, encoding, collation } = await one(
    client,
    `SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS version,
       pg_is_in_recovery() AS standby, current_setting('server_encoding') AS encoding,
       (SELECT datcollate FROM pg_database WHERE datname = current_database()) AS collation`,
  )
  const found = `PostgreSQL ${version}, ${encoding}, locale ${collation}`
  if (number < OLDEST_SERVER) return failed(found, 'use PostgreSQL 15 or later')
  if (standby) return failed(`${found}, a stand-by`, 'connect to the primary server')
  if (encoding !== 'UTF8') return failed(found, "create the database with ENCODING 'UTF8'")
  if (collation === 'C' && !isEmbedded)
    return warning(found, 'searches on non-Latin text cannot use the index: use C.UTF-8')
  return ok(found)
}

async function checkSafety(client: PoolClient): Promise<Finding> {
  const { rows } = await client.query(
    `SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'autovacuum') AND setting = 'off'`,
  )
  const off = rows.map(({ name }) => name)
  if (off.length === 0) return ok('fsync, full_page_writes and autovacuum are on')
  const found = `off: ${off.join(', ')}`
  const isUnsafe = off.some((name) => name !== 'autovacuum')
  return isUnsafe
    ? failed(found, 'turn them on: without them a crash loses messages or destroys the database')
    : warning(found, 'turn it on: tables grow, and statements become slow')
}

async function checkRights(client: PoolClient): Promise<Finding> {
  const {
    role,
    super: isSuperuser,
    owns,
    creates,
    fills,
  } = await one(
    client,
    `SELECT current_user AS role, r.rolsuper AS super, has_database_privilege(d.oid, 'CREATE') AS creates,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS fills,
       pg_has_role(current_user, d.datdba, 'USAGE') AS owns
     FROM pg_database d, pg_roles r WHERE d.datname = current_database() AND r.rolname = current_user`,
  )
  if (!fills) return failed(`${role} may not create tables`, RIGHTS)
  if (isSuperuser)
    return warning(`${role} is a superuser`, 'use a role that only owns its database (docs/production.md#roles)')
  if (!owns || !creates) return warning(`${role} does not own the database`, RIGHTS)
  return ok(`${role} owns the database and is no superuser`)
}

async function checkExtensions(client: PoolClient): Promise<Finding> {
  const { rows } = await client.query('SELECT extname FROM pg_extension WHERE extname = ANY ($1)', [EXTENSIONS])
  const missing = EXTENSIONS.filter((name) => !rows.some(({ extname }) => extname === name))
  if (missing.length === 0) return ok(`${EXTENSIONS.join(' and ')} are there`)
  await rolledBack(client, async () => {
    for (const name of missing) await client.query(`CREATE EXTENSION ${name}`)
  })
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
  const found = `${used} of ${most} connections in use; a process of Parley opens up to ${wanted}`
  if (most < wanted) return failed(found, 'raise max_connections, or lower PARLEY_DATABASE_CONNECTIONS')
  if (most - used < wanted) {
    return warning(found, 'before another process starts, raise max_connections or lower PARLEY_DATABASE_CONNECTIONS')
  }
  return ok(found)
}

function checkNotifications(server: Server): Promise<Finding> {
  const channel = `parley_doctor_${randomUUID().replaceAll('-', '')}`
  return withSession(server, async (listener) => {
    await listener.query(`LISTEN ${channel}`)
    const told = once(listener, 'notification', { signal: AbortSignal.timeout(NOTIFIED_MS) }).then(
      () => true,
      () => false,
    )
    await withSession(server, (sender) => sender.query('SELECT pg_notify($1, $2)', [channel, 'probe']))
    return (await told) ? ok('LISTEN and NOTIFY work') : failed('a notification did not arrive', DIRECT)
  })
}

function checkLocks(server: Server): Promise<Finding> {
  const key = Math.floor(Math.random() * 2 ** 31)
  const take = 'SELECT pg_try_advisory_lock(1885433188, $1) AS taken, pg_backend_pid() AS pid'
  return withSession(server, async (holder) => {
    const first = await one(holder, take, [key])
    // A pooler that shares connections gives the second one the first one's lock.
    const second = await withSession(server, (other) => one(other, take, [key]))
    const again = await one(holder, 'SELECT pg_backend_pid() AS pid, pg_advisory_unlock(1885433188, $1) AS freed', [
      key,
    ])
    const isKept = first.taken && !second.taken && again.freed && again.pid === first.pid && second.pid !== first.pid
    return isKept ? ok('they are kept by their session') : failed('they are not kept by their session', DIRECT)
  })
}

function checkPrepared(server: Server): Promise<Finding> {
  const statement = (value: number) => {
    return { name: 'parley_doctor', text: 'SELECT $1::integer AS value, pg_backend_pid() AS pid', values: [value] }
  }
  return withSession(server, (first) =>
    withSession(server, async (second) => {
      await first.query(statement(1))
      // Holds a connection of the server, so that a pooler must give the first one another.
      const moved = await rolledBack(second, async () => {
        await second.query(statement(2))
        return first.query(statement(3))
      })
      return moved.rows[0].value === 3 ? ok('they are kept by their session') : failed('wrong answer', DIRECT)
    }),
  )
}

async function checkTransactionIds(client: PoolClient): Promise<Finding> {
  const { ordered } = await one(
    client,
    `SELECT pg_current_xact_id() >= pg_snapshot_xmin(pg_current_snapshot())
       AND NOT pg_visible_in_snapshot(pg_current_xact_id(), pg_current_snapshot()) AS ordered`,
  )
  return ordered ? ok('they fit the snapshots') : failed('they do not fit the snapshots', 'use another engine')
}

/** A server that was restored is told from the one before by these two, so that no position of the feed misleads. */
async function checkTimeline(client: PoolClient): Promise<Finding> {
  const { server, timeline } = await one(
    client,
    `SELECT (pg_control_system()).system_identifier::text AS server,
       left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline`,
  )
  return ok(`server ${server}, timeline ${Number.parseInt(timeline, 16)}`)
}

async function checkTables(client: PoolClient): Promise<Finding> {
  await rolledBack(client, async () => {
    await client.query('CREATE UNLOGGED TABLE parley_doctor_queue (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)')
    await client.query(
      'CREATE TABLE parley_doctor_rows (organization_id uuid, id bigint, body jsonb, PRIMARY KEY (organization_id, id))',
    )
    await client.query('CREATE INDEX ON parley_doctor_rows (organization_id, id DESC) WHERE body IS NOT NULL')
    await client.query(
      'INSERT INTO parley_doctor_rows SELECT gen_random_uuid(), 1 ON CONFLICT DO NOTHING RETURNING organization_id',
    )
    await client.query('SELECT FROM parley_doctor_rows FOR NO KEY UPDATE SKIP LOCKED')
  })
  return ok('tables, unlogged tables, partial indexes and row locks work')
}

async function checkPublications(client: PoolClient): Promise<Finding> {
  const { level, replicates } = await one(
    client,
    `SELECT current_setting('wal_level') AS level, rolreplication OR rolsuper AS replicates
     FROM pg_roles WHERE rolname = current_user`,
  )
  const works = await rolledBack(client, async () => {
    await client.query('CREATE TABLE parley_doctor_rows (organization_id uuid PRIMARY KEY)')
    await client.query(
      `CREATE PUBLICATION parley_doctor FOR TABLE parley_doctor_rows
       WHERE (organization_id = '00000000-0000-0000-0000-000000000000')`,
    )
  }).then(
    () => true,
    () => false,
  )
  const lacks = [
    ...(works ? [] : ['publications with row filters']),
    ...(level === 'logical' ? [] : [`wal_level = logical (it is ${level})`]),
    ...(replicates ? [] : ['the right REPLICATION of the role']),
  ]
  if (lacks.length === 0) return ok('the rows of an organization can be copied from and to this server')
  return warning(
    `missing: ${lacks.join(', ')}`,
    'only copying the rows of an organization to another server needs them; Parley does not',
  )
}

async function checkLatency(client: PoolClient): Promise<Finding> {
  const statementMs = await median(() => client.query('SELECT 1'))
  // A transaction with something in the log is flushed when it commits, and leaves no row.
  const commitMs = await median(() => client.query(`SELECT pg_logical_emit_message(true, 'parley_doctor', 'probe')`))
  const found = `a statement takes ${statementMs.toFixed(1)} ms, a commit ${commitMs.toFixed(1)} ms (medians of ${ROUNDS})`
  if (statementMs > SLOW_STATEMENT_MS) return warning(found, 'run Parley nearer to the server')
  if (commitMs > SLOW_COMMIT_MS) return warning(found, 'a faster disk for the log of the server makes sends faster')
  return ok(found)
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const begunAt = performance.now()
    await work()
    times.push(performance.now() - begunAt)
  }
  return times.sort((a, b) => a - b)[ROUNDS / 2] ?? 0
}

async function checkClock(client: PoolClient): Promise<Finding> {
  const before = Date.now()
  const { at } = await one(client, 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at')
  const apart = Math.abs(at - (before + Date.now()) / 2)
  const found = `this machine and the server are ${(apart / 1_000).toFixed(3)} s apart`
  return apart > CLOCKS_APART_MS ? warning(found, 'keep both clocks with NTP') : ok(found)
}

// biome-ignore lint/suspicious/noExplicitAny: each statement has columns of its own
async function one(client: PoolClient, sql: string, values: unknown[] = []): Promise<any> {
  return (await client.query(sql, values)).rows[0]
}
