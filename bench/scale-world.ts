import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase } from '../src/database/pool.js'
import { requestIndexing } from '../src/storage/message-search.js'
import type { Child } from './child.js'
import type { Cleanup } from './cleanup.js'
import type { LoadedServer } from './measure.js'
import { SMALL } from './options.js'
import { fillDatabase, type Shape, shapeOf } from './scale-data.js'
import {
  databaseUrl,
  makeFolder,
  makeOrganization,
  type Organization,
  type Server,
  serviceEnvironment,
  startServer,
  startService,
} from './world.js'

/** A database of one size, the service on it, and its first organization. */
export interface Site extends LoadedServer {
  connection: Server['connection']
  shape: Shape
  organization: Organization
  service: Child
}

/** Two databases on one server: all but the number of rows is the same for both. */
export interface ScaleWorld {
  large: Site
  small: Site
}

/** What making it took. */
export interface ScaleMaking {
  fillSeconds: number
  /** Of the large database, its indexes included. */
  gigabytes: number
  /** Messages a second that the service's own job made searchable. */
  indexedPerSecond: number
}

interface Plan {
  connection: Server['connection']
  env: Record<string, string>
  shape: Shape
  organization: Organization
}

/** For filling alone: no log to be replayed, nothing waits for the disk. Measured is under the service's own settings. */
export const FILLING = {
  fsync: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '16GB',
  shared_buffers: '1GB',
  work_mem: '256MB',
  maintenance_work_mem: '1GB',
}

/** Nobody is asked: nothing is sent. */
export const NO_UPSTREAM = 'http://127.0.0.1:9'
const POLL_MS = 200

/** Makes both databases and starts a service on each; `cleanup` ends and removes all of it. */
export async function startScaleWorld(cleanup: Cleanup, messages: number): Promise<ScaleWorld & ScaleMaking> {
  const folder = await makeFolder(cleanup)
  const filling = await startServer(cleanup, folder, FILLING)
  await filling.database.query('CREATE DATABASE small')
  const plan = async (database: string, size: number): Promise<Plan> => {
    const connection = { ...filling.connection, database }
    const files = { ...serviceEnvironment(join(folder, database), NO_UPSTREAM) }
    const env = { ...files, PARLEY_DATABASE_URL: databaseUrl(connection) }
    return { connection, env, shape: shapeOf(size), organization: await makeOrganization(cleanup, env) }
  }
  const plans = { large: await plan(filling.connection.database, messages), small: await plan('small', SMALL) }
  const startedAt = performance.now()
  await fill(plans.large)
  const fillSeconds = (performance.now() - startedAt) / 1000
  await fill(plans.small)
  await filling.stop()

  const server = await startServer(cleanup, folder)
  const open = async ({ connection, env, shape, organization }: Plan): Promise<Site> => {
    const database = new pg.Pool({ ...connection, max: 2 })
    cleanup.add(() => database.end())
    database.on('error', () => undefined)
    const service = await startService(cleanup, env)
    return { database, connection, postmasterPid: server.postmasterPid, shape, organization, service }
  }
  const large = await open(plans.large)
  const indexedPerSecond = await indexLongConversations(large)
  const small = await open(plans.small)
  await indexLongConversations(small)
  return { large, small, fillSeconds, gigabytes: await sizeOf(large), indexedPerSecond }
}

async function fill({ connection, shape }: Plan): Promise<void> {
  const database = new pg.Pool({ ...connection, max: 1 })
  database.on('error', () => undefined)
  await fillDatabase(database, shape).finally(() => database.end())
}

/** Lets the service make the conversations of the first two contacts searchable by words; resolves to messages a second. */
async function indexLongConversations({ database, connection, shape, organization }: Site): Promise<number> {
  const { rows: contacts } = await database.query<{ id: string }>('SELECT id FROM contacts WHERE last_seq >= 1000')
  const service = openDatabase(connection, 1, () => undefined)
  const startedAt = performance.now()
  for (const { id } of contacts) await requestIndexing(service, organization.id, id)
  await service.close()
  while (await isIndexing(database)) await setTimeout(POLL_MS)
  const seconds = (performance.now() - startedAt) / 1000
  await database.query('VACUUM (ANALYZE)')
  return shape.longest / seconds
}

async function isIndexing(database: pg.Pool): Promise<boolean> {
  const { rows } = await database.query(
    'SELECT FROM contacts WHERE last_seq >= 1000 AND searchable_seq < last_seq - last_seq % 1000',
  )
  return rows.length > 0
}

async function sizeOf({ database }: Site): Promise<number> {
  const { rows } = await database.query('SELECT pg_database_size(current_database())::float8 AS bytes')
  return rows[0].bytes / 1e9
}
