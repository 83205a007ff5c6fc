import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { type Simulator, startSimulator } from '../../simulator/index.js'
import { type App, startApp } from '../../src/app.js'
import { readConfig } from '../../src/config/read.js'
import { createTasks } from '../../src/jobs/tasks.js'
import { createTestDatabase, forAllPurposes, type TestDatabase, withChecks } from './database.js'
import { drainJobs } from './jobs.js'
import { answerCheck } from './openapi.js'
import { useStarted } from './started.js'

/** An answer of the service, its body read as JSON. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

/** The options of a test request besides method and path. */
export interface RequestOptions {
  key?: string
  body?: unknown
  headers?: Record<string, string>
}

/** An organization of a test, with its number at the simulator and a key with all scopes. */
export interface TestOrganization {
  id: string
  slug: string
  name: string
  phoneNumberId: string
  businessAccountId: string
  accessToken: string
  appSecret: string
  verifyToken: string
  key: string
}

type Env = Record<string, string>

/** A service on a real port with a separate database and a simulator. Jobs run when drained. */
export interface World {
  app: App
  database: TestDatabase
  simulator: Simulator
  adminToken: string
  /** PARLEY_DATA_DIR. */
  dataDir: string
  /** The service's clock, which advances only on request. */
  now(): Date
  /** Not the database's clock, by which jobs become due (`makeJobsDue`). */
  advance(ms: number): void
  /** Throws if the answer differs from the descriptions (`/openapi.json`, the gateway's, the admin API's). */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** The operator's API: path below /admin. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  /** The simulator's control: path below /_sim. */
  sim(method: string, path: string, body?: unknown): Promise<Answer>
  /** Waits until the simulator has delivered every callback, then runs all jobs. */
  settle(): Promise<void>
  /** Runs all jobs, and delivers due webhooks. */
  drain(): Promise<void>
  /** Creates an organization; `fields` are added to POST /admin/organizations. */
  createOrganization(fields?: Record<string, unknown>): Promise<TestOrganization>
  /** Empties the database for the next test, which is much faster than another world. The clock continues. */
  reset(): Promise<void>
  close(): Promise<void>
}

/**
 * A world for the tests of this file or `describe`. `env`: the settings of `startWorld`, or a function that is called when the
 * world starts.
 */
export function useWorld(env?: Env | (() => Env | Promise<Env>), log?: Logger): World {
  return useStarted(async () => startWorld(typeof env === 'function' ? await env() : env, log))
}

/** An organization for the tests of this file or `describe`; `fields` are added to POST /admin/organizations. */
export function useOrganization(world: World, fields?: Record<string, unknown>): TestOrganization {
  return useStarted(
    () => world.createOrganization(fields),
    () => undefined,
  )
}

/** Starts a world. `env`: additional PARLEY_* settings; `log`: instead of the quiet one. */
export async function startWorld(
  env: Env = {},
  log: Logger = pino({ level: process.env.PARLEY_TEST_LOG_LEVEL ?? 'silent' }),
): Promise<World> {
  const database = withChecks(await createTestDatabase())
  const simulator = await startSimulator()
  const adminToken = 'admin-token-of-the-tests'
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-world-'))
  const read = readConfig({
    PARLEY_PORT: '0',
    PARLEY_UPSTREAM_URL: simulator.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    PARLEY_DATA_DIR: dataDir,
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8,::1',
    ...env,
  })
  if (!read.ok) throw new Error(read.problem)
  let offset = 0
  const now = () => new Date(Date.now() + offset)
  const app = await startApp({
    config: read.config,
    secrets: { adminToken, masterKeys: ['master-key-of-the-tests'] },
    log,
    databases: forAllPurposes(database),
    upstreamUrl: read.config.upstreamUrl,
    simulator: { controlUrl: `${simulator.url}/_sim`, token: null, passesOn: false },
    clock: now,
    runWorker: false,
  })
  const tasks = createTasks(app.work)
  const emptied = await emptyTables(database)
  const request = async (method: string, path: string, options: RequestOptions = {}) => {
    const check = await answerCheck((described) => call(`${app.url}${described}`, 'GET', {}))
    const answer = await call(`${app.url}${path}`, method, options)
    check(method, path, answer)
    return answer
  }
  const admin = (method: string, path: string, body?: unknown) =>
    request(method, `/admin${path}`, { key: adminToken, body })
  const sim = (method: string, path: string, body?: unknown) => call(`${simulator.url}/_sim${path}`, method, { body })
  const drain = async () => {
    await app.callbacks.drain()
    await drainJobs(app.ctx, tasks)
    // Jobs call the simulator, which answers with callbacks.
    await app.callbacks.drain()
    await app.webhooks.drain()
  }
  return {
    app,
    database,
    simulator,
    adminToken,
    dataDir,
    now,
    advance: (ms) => {
      offset += ms
    },
    request,
    admin,
    sim,
    drain,
    settle: async () => {
      await sim('POST', '/idle', {})
      await drain()
    },
    createOrganization: (fields = {}) => createOrganization(admin, fields),
    reset: async () => {
      await sim('POST', '/idle', {})
      await sim('POST', '/reset', { numbers: true })
      const deletions = emptied.map((table) => `DELETE FROM ${table}`).join(';')
      // Without triggers, those of foreign keys included: the order of the tables does not matter.
      await database.pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${deletions}; COMMIT`)
    },
    close: async () => {
      await app.close()
      await simulator.close()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The initially empty tables; the others contain rows of the migrations and of the start of the service. */
async function emptyTables({ pool }: TestDatabase): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname = 'public'`,
  )
  const looks = rows.map(({ name }) => `SELECT '${name}' AS name WHERE NOT EXISTS (SELECT FROM ${name})`)
  const found = await pool.query<{ name: string }>(looks.join(' UNION ALL '))
  return found.rows.map(({ name }) => name)
}

async function call(url: string, method: string, { key, body, headers }: RequestOptions): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
    redirect: 'manual',
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function createOrganization(admin: World['admin'], fields: Record<string, unknown>): Promise<TestOrganization> {
  const unique = randomUUID().slice(0, 8)
  const digits = String(Number.parseInt(unique, 16)).padStart(10, '0')
  const made = await admin('POST', '/organizations', { name: `Shop ${unique}`, slug: `shop-${unique}`, ...fields })
  if (made.status !== 201) throw new Error(`organization: ${JSON.stringify(made.body)}`)
  const { id, slug, name } = made.body.organization
  const settings = {
    phone_number_id: `10${digits}`,
    business_account_id: `20${digits}`,
    access_token: `token-${unique}`,
    app_secret: `secret-${unique}`,
    verify_token: `verify-${unique}`,
    messages_per_second: 0,
    pair_limit: false,
  }
  const connected = await admin('PUT', `/organizations/${id}/upstream`, settings)
  if (connected.status !== 200) throw new Error(`upstream: ${JSON.stringify(connected.body)}`)
  const issued = await admin('POST', `/organizations/${id}/keys`, { name: 'test' })
  return {
    id,
    slug,
    name,
    phoneNumberId: settings.phone_number_id,
    businessAccountId: settings.business_account_id,
    accessToken: settings.access_token,
    appSecret: settings.app_secret,
    verifyToken: settings.verify_token,
    key: issued.body.api_key.key,
  }
}
