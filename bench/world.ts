import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../src/lib/files/package-root.js'
import { type Child, startChild } from './child.js'
import type { Cleanup } from './cleanup.js'
import { loadData } from './data.js'
import { type Run, type Server, startServer } from './server.js'

/** The measured organization. */
export interface Organization {
  id: string
  key: string
  phoneNumberId: string
  accessToken: string
  appSecret: string
}

/** A filled database, a simulator, and functions to start the service on them, each as a process. */
export interface World extends Pick<Server, 'database' | 'url' | 'cpu'> {
  folder: string
  sandboxUrl: string
  organization: Organization
  cleanup: Cleanup
  /** Starts the service on this database. `env`: additional settings; `nodeArgs`: arguments of Node itself. */
  startService(env?: Record<string, string>, nodeArgs?: string[]): Promise<Child>
  /** Starts the baseline on the same database. `constant`: the answer of its constant route. */
  startBaseline(constant: string): Promise<Child>
  /**
   * Starts the service as a user would, with its own embedded server if the run has one; only after `releaseServer`.
   */
  startAsUser(env?: Record<string, string>): Promise<Child>
  /** Stops the embedded server, so that the service can start its own on the same folder. */
  releaseServer(): Promise<void>
}

/** The built program. */
export const MAIN = join(packageRoot(), 'dist', 'src', 'main.js')
const BASELINE = join(packageRoot(), 'dist', 'bench', 'baseline.js')
/** The operator's token of every service of the benchmark. */
export const ADMIN_TOKEN = 'admin-token-of-the-benchmark'

/** Creates a world in a temporary folder; `run` stops and removes everything. */
export async function startWorld(run: Run): Promise<World> {
  const folder = await makeFolder(run)
  const { database, url, cpu, stop } = await startServer(run, folder)

  const sandbox = await startChild(run, [MAIN, 'sandbox'], {})
  await call('POST', `${sandbox.url}/_sim/settings`, { statuses: false, record: false, keep_media: false })

  const common = serviceEnvironment(folder, `${sandbox.url}/v23.0`)
  const onServer = { ...common, PARLEY_DATABASE_URL: url }

  const organization = await makeOrganization(run, onServer)
  await loadData(database, organization.id)

  return {
    folder,
    database,
    url,
    cpu,
    sandboxUrl: sandbox.url,
    organization,
    cleanup: run,
    startService: (env = {}, nodeArgs = []) => startService(run, { ...onServer, ...env }, [], nodeArgs),
    startBaseline: (constant) => {
      const settings = { url, constant, organization, upstreamUrl: `${sandbox.url}/v23.0` }
      return startChild(run, [BASELINE], { BENCH_BASELINE: JSON.stringify(settings) })
    },
    startAsUser: (env = {}) => startService(run, { ...(run.databaseUrl === null ? common : onServer), ...env }),
    releaseServer: stop,
  }
}

/** Starts the service with only these settings. `args`: of its command; `nodeArgs`: of Node itself. */
export function startService(
  cleanup: Cleanup,
  env: Record<string, string>,
  args: string[] = [],
  nodeArgs: string[] = [],
): Promise<Child> {
  return startChild(cleanup, [...nodeArgs, MAIN, 'serve', ...args], env)
}

/** Settings of a service with its files in the folder, without a database. */
export function serviceEnvironment(folder: string, upstreamUrl: string): Record<string, string> {
  return {
    PARLEY_DATA_DIR: folder,
    PARLEY_PORT: '0',
    PARLEY_ADMIN_TOKEN: ADMIN_TOKEN,
    PARLEY_SECRET: 'master-key-of-the-benchmark',
    PARLEY_RATE_LIMIT: '0',
    PARLEY_LOG_LEVEL: 'warn',
    PARLEY_UPSTREAM_URL: upstreamUrl,
  }
}

/** Creates a temporary folder that others can enter, because the database server may run as another user. */
export async function makeFolder(cleanup: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'))
  cleanup.add(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  await chmod(folder, 0o755)
  return folder
}

/** Migrates the database and creates an organization, with a service that runs only for that. */
export async function makeOrganization(cleanup: Cleanup, env: Record<string, string>): Promise<Organization> {
  const service = await startService(cleanup, env, ['--migrate'])
  const admin = (method: 'POST' | 'PUT', path: string, body: object) =>
    call(method, `${service.url}/admin/organizations${path}`, body)
  const { organization } = await admin('POST', '', { name: 'Bench', slug: 'bench' })
  const number = { phone_number_id: '106540352242922', business_account_id: '419561257915477' }
  const secrets = { access_token: 'token-of-the-benchmark', app_secret: 'app-secret', verify_token: 'verify-token' }
  const pacing = { messages_per_second: 0, pair_limit: false }
  await admin('PUT', `/${organization.id}/upstream`, { ...number, ...secrets, ...pacing })
  const { api_key: key } = await admin('POST', `/${organization.id}/keys`, { name: 'bench' })
  await service.stop()
  return {
    id: organization.id,
    key: key.key,
    phoneNumberId: number.phone_number_id,
    accessToken: secrets.access_token,
    appSecret: secrets.app_secret,
  }
}

/** Calls the service with a key, by default the operator's; resolves to its answer, or throws it if the call fails. */
export async function call(
  method: 'GET' | 'POST' | 'PUT',
  url: string,
  body: object | null,
  key = ADMIN_TOKEN,
  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes, read once each
): Promise<any> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`)
  return JSON.parse(text)
}
