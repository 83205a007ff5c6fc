import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from '../../../src/database/pool.js'
import { makeDatabaseFolder } from '../../support/database-folder.js'
import type { Answer, RequestOptions, TestOrganization } from '../../support/world.js'
import { type Program, startProgram } from './programs.js'

export type { Answer } from '../../support/world.js'

/** A running `parley serve`. */
export interface Service {
  program: Program
  url: string
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** The operator's API: path below /admin. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
}

/** A running `parley sandbox`. */
export interface Sandbox {
  program: Program
  upstreamUrl: string
  /** Its control: path below /_sim. */
  control(method: string, path: string, body?: unknown): Promise<Answer>
  /** The messages that it accepted, oldest first. */
  accepted(): Promise<AcceptedMessage[]>
}

/** A message as the simulator's record shows it, as far as it is looked at here. */
export interface AcceptedMessage {
  id: string
  phone_number_id: string
  to: string
  payload: { text: { body: string }; biz_opaque_callback_data: string }
  statuses: string[]
}

/** Secrets that several processes over one database share. */
export const sharedSecrets = {
  PARLEY_ADMIN_TOKEN: 'admin-token-of-the-journeys',
  PARLEY_SECRET: 'master-key-of-the-journeys',
}

/**
 * Starts `parley serve` on a free port and waits until it is ready. `env` with a data folder or with `sharedSecrets`;
 * `main`: the main.js of another version.
 */
export async function startService(env: Record<string, string>, args: string[] = [], main?: string): Promise<Service> {
  const program = await startProgram(['serve', ...args], { env: { PARLEY_PORT: '0', ...env }, main })
  const url = /^parley ready on (http:\/\/\S+)$/.exec(await program.firstLine)?.[1]
  if (url === undefined) throw new Error(`serve said: ${program.output.join('\n')}`)
  const adminToken = env.PARLEY_ADMIN_TOKEN ?? (await generatedAdminToken(String(env.PARLEY_DATA_DIR)))
  return {
    program,
    url,
    request: (method, path, options) => call(`${url}${path}`, method, options),
    admin: (method, path, body) => call(`${url}/admin${path}`, method, { key: adminToken, body }),
  }
}

/** Starts `parley sandbox` on a free port and waits until it is ready. */
export async function startSandbox(args: string[] = []): Promise<Sandbox> {
  const program = await startProgram(['sandbox', '--port', '0', ...args])
  const url = /^parley sandbox ready on (http:\/\/\S+)$/.exec(await program.firstLine)?.[1]
  if (url === undefined) throw new Error(`sandbox said: ${program.output.join('\n')}`)
  const control: Sandbox['control'] = (method, path, body) => call(`${url}/_sim${path}`, method, { body })
  return {
    program,
    upstreamUrl: `${url}/v23.0`,
    control,
    accepted: async () => (await control('GET', '/messages?limit=1000000')).body.messages,
  }
}

/** One HTTP call, its answer read as JSON where it is. Rejects when no answer came. */
export async function call(url: string, method: string, { key, body, headers }: RequestOptions = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/**
 * Makes an organization with a number at the upstream and a key that may do everything; `upstream`: further settings of
 * the number.
 */
export async function createOrganization(
  { admin }: Pick<Service, 'admin'>,
  upstream: object = {},
): Promise<TestOrganization> {
  const unique = randomUUID().slice(0, 8)
  const digits = String(Number.parseInt(unique, 16)).padStart(10, '0')
  const made = await succeed(admin('POST', '/organizations', { name: `Shop ${unique}`, slug: `shop-${unique}` }))
  const { id, slug, name } = made.body.organization
  const settings = {
    phone_number_id: `10${digits}`,
    business_account_id: `20${digits}`,
    access_token: `token-${unique}`,
    app_secret: `secret-${unique}`,
    verify_token: `verify-${unique}`,
    ...upstream,
  }
  await succeed(admin('PUT', `/organizations/${id}/upstream`, settings))
  const issued = await succeed(admin('POST', `/organizations/${id}/keys`, { name: 'journey' }))
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

/** The answer, which has to be a 2xx. */
export async function succeed(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked
  if (answer.status < 200 || answer.status > 299) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer
}

/** A folder for one test. */
export async function makeFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await makeDatabaseFolder()
  // A killed service's database may write its last files while the folder is removed.
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 }) }
}

/** A connection as PARLEY_DATABASE_URL. */
export function urlOf(connection: Connection): string {
  if ('connectionString' in connection) return connection.connectionString
  const { host, port, user, database } = connection
  return `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
}

async function generatedAdminToken(dataDir: string): Promise<string> {
  return JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8')).PARLEY_ADMIN_TOKEN
}
