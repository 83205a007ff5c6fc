import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase } from '../src/database/pool.js'
import { requestIndexing } from '../src/storage/conversations/search.js'
import type { Child } from './child.js'
import type { LoadedServer } from './measure.js'
import { SMALL } from './options.js'
import { fillDatabase, type Shape, shapeOf } from './scale-data.js'
import { openPool, type Run, startServer } from './server.js'
import { makeFolder, makeOrganization, type Organization, serviceEnvironment, startService } from './world.js'

/** A database of one size, with a running service and its first organization. */
export interface Site extends LoadedServer {
  url: string
  shape: Shape
  organization: Organization
  service: Child
}

/** Two databases on one server, which differ only in the number of rows. */
export interface ScaleWorld {
  large: Site
  small: Site
}

/** The costs of creating it. */
export interface ScaleSetup {
  fillSeconds: number
  /** The size of the large database, including indexes. */
  gigabytes: number
  /** Messages per second that the service's own job indexed. */
  indexedPerSecond: number
}

interface Plan {
  url: string
  env: Record<string, string>
  shape: Shape
  organization: Organization
}

/**
 * Settings used only for filling: no durable log, no waiting for the disk. The measurements use the service's own
 * settings.
 */
export const FILLING = {
  fsync: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '16GB',
  shared_buffers: '1GB',
  work_mem: '256MB',
  maintenance_work_mem: '1GB',
}

/** Not reachable, because nothing is sent. */
export const NO_UPSTREAM = 'http://127.0.0.1:9'
const POLL_MS = 200

/** What a kept folder holds. */
interface Kept {
  plans: { large: Plan; small: Plan }
  fillSeconds: number
  /** Null: the long conversations are not indexed yet. */
  indexedPerSecond: number | null
}

/**
 * Creates both databases, or uses those that `keep` holds from an earlier run, and starts a service on each. `run` stops
 * everything, and removes what is not to be kept.
 */
export async function startScaleWorld(
  run: Run,
  messages: number,
  keep: string | null = null,
): Promise<ScaleWorld & ScaleSetup> {
  const folder = keep === null ? await makeFolder(run) : await makeKeptFolder(keep)
  const record = join(folder, `filled-${messages}.json`)
  const note = (kept: Kept) => writeFile(record, JSON.stringify(kept))
  const kept: Kept = existsSync(record)
    ? JSON.parse(await readFile(record, 'utf8'))
    : await fillBoth(run, folder, messages)
  await note(kept)
  const { cpu } = await startServer(run, folder)
  const open = async ({ url, env, shape, organization }: Plan): Promise<Site> => {
    const service = await startService(run, env, ['--migrate'])
    return { database: openPool(run, url), url, cpu, shape, organization, service }
  }
  const large = await open(kept.plans.large)
  const indexedPerSecond = kept.indexedPerSecond ?? (await indexLongConversations(large))
  const small = await open(kept.plans.small)
  await indexLongConversations(small)
  await note({ ...kept, indexedPerSecond })
  const { fillSeconds } = kept
  return { large, small, fillSeconds, gigabytes: await sizeOf(large), indexedPerSecond }
}

async function makeKeptFolder(path: string): Promise<string> {
  const folder = resolve(path)
  await mkdir(folder, { recursive: true, mode: 0o755 })
  return folder
}

async function fillBoth(run: Run, folder: string, messages: number): Promise<Kept> {
  const filling = await startServer(run, folder, FILLING)
  const plan = async (name: string, url: string, size: number): Promise<Plan> => {
    const env = { ...serviceEnvironment(join(folder, name), NO_UPSTREAM), PARLEY_DATABASE_URL: url }
    return { url, env, shape: shapeOf(size), organization: await makeOrganization(run, env) }
  }
  const plans = {
    large: await plan('large', filling.url, messages),
    small: await plan('small', await filling.createDatabase('small'), SMALL),
  }
  const startedAt = performance.now()
  await fill(plans.large)
  const fillSeconds = (performance.now() - startedAt) / 1000
  await fill(plans.small)
  await filling.stop()
  return { plans, fillSeconds, indexedPerSecond: null }
}

async function fill({ url, shape }: Plan): Promise<void> {
  const database = new pg.Pool({ connectionString: url, max: 1 })
  database.on('error', () => undefined)
  await fillDatabase(database, shape).finally(() => database.end())
}

/** Makes the service index the conversations of the first two contacts; resolves to messages per second. */
async function indexLongConversations({ database, url, shape, organization }: Site): Promise<number> {
  const { rows: contacts } = await database.query<{ id: string }>('SELECT id FROM contacts WHERE last_seq >= 1000')
  const service = openDatabase({ connectionString: url }, 1, () => undefined)
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
