import type pg from 'pg'
import { newId } from '../../src/lib/bytes/id.js'
import type { JobClassName } from '../../src/model/jobs.js'
import { callbackOf, envelopeOf, type InboundText, signatureOf } from '../loads.js'
import { until } from '../until.js'

/** A running service in which one organization makes noise while another one works. */
export interface Stage {
  /** The service. */
  url: string
  adminToken: string
  /** The simulator, which is the service's upstream. */
  sandboxUrl: string
  /** For rows that would take long to create by requests, and for counting what waits. */
  database: pg.Pool
}

/** An organization with a business number, and a key with all scopes. */
export interface Tenant {
  id: string
  slug: string
  key: string
  phoneNumberId: string
  appSecret: string
}

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes, read once each
  body: any
}

/** What a request has besides method and URL. A body that is an object is sent as JSON. */
export interface Asked {
  key?: string
  body?: object | string | Buffer
  headers?: Record<string, string>
}

/** Only a hang takes so long. */
const PATIENCE = { pollMs: 20, timeoutMs: 10 * 60_000 }

/** Makes one request; its answer is read as JSON if it is JSON. Rejects without an answer. */
export async function ask(method: string, url: string, { key, body, headers }: Asked = {}): Promise<Answer> {
  const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: isRaw ? (body ?? null) : JSON.stringify(body),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** The same; throws unless the answer is a 2xx. */
export async function succeed(method: string, url: string, asked: Asked = {}): Promise<Answer> {
  const answer = await ask(method, url, asked)
  if (answer.status >= 200 && answer.status <= 299) return answer
  throw new Error(`${method} ${url} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
}

/** Resolves when the condition holds; throws an error with `what` after ten minutes. */
export function untilTrue(what: string, condition: () => Promise<boolean>): Promise<void> {
  return until(condition, { what, ...PATIENCE })
}

/** Creates an organization; `pace` are settings of its business number, which by default has no limits. */
export async function createTenant({ url, adminToken: key }: Stage, name: string, pace: object = {}): Promise<Tenant> {
  const unique = newId().slice(-12)
  const digits = String(Number.parseInt(unique, 16)).padStart(15, '0')
  const organizations = `${url}/admin/organizations`
  const body = { name: `${name} ${unique}`, slug: `${name.toLowerCase()}-${unique}` }
  const { id, slug } = (await succeed('POST', organizations, { key, body })).body.organization
  const number = { phone_number_id: `1${digits}`, business_account_id: `2${digits}` }
  const secrets = { access_token: `token-${unique}`, app_secret: `secret-${unique}`, verify_token: `verify-${unique}` }
  const limits = { messages_per_second: 0, pair_limit: false, ...pace }
  await succeed('PUT', `${organizations}/${id}/upstream`, { key, body: { ...number, ...secrets, ...limits } })
  const issued = await succeed('POST', `${organizations}/${id}/keys`, { key, body: { name: 'neighbours' } })
  return {
    id,
    slug,
    key: issued.body.api_key.key,
    phoneNumberId: number.phone_number_id,
    appSecret: secrets.app_secret,
  }
}

/** Deletes an organization, and with it what it left to do. */
export async function deleteTenant({ url, adminToken: key }: Stage, { id }: Tenant): Promise<void> {
  await succeed('DELETE', `${url}/admin/organizations/${id}`, { key })
}

/** Posts inbound messages as the upstream does, in one signed callback. */
export function postInbound({ url }: Stage, tenant: Tenant, messages: readonly InboundText[]): Promise<Answer> {
  return postSigned(url, tenant, callbackOf(tenant.phoneNumberId, messages))
}

/** Posts a change of a field as the upstream does, signed. */
export function postChange({ url }: Stage, tenant: Tenant, field: string, value: object): Promise<Answer> {
  return postSigned(url, tenant, envelopeOf(tenant.phoneNumberId, value, field))
}

function postSigned(url: string, { appSecret }: Tenant, callback: object): Promise<Answer> {
  const body = JSON.stringify(callback)
  const headers = { 'x-hub-signature-256': signatureOf(appSecret, body) }
  return ask('POST', `${url}/hooks/upstream`, { body, headers })
}

/** Makes an owner with a password, and the session of the console in which the owner is signed in. */
export async function signInOwner(
  { url, adminToken: key }: Stage,
  { id, slug: organization }: Tenant,
): Promise<{ credentials: { organization: string; email: string; password: string }; cookie: string }> {
  const [email, password] = ['owner@example.com', 'password of the owner']
  const member = { email, full_name: 'Olga Owner', role: 'owner', password }
  await succeed('POST', `${url}/admin/organizations/${id}/members`, { key, body: member })
  const credentials = { organization, email, password }
  const { headers } = await succeed('POST', `${url}/console/api/session`, { body: credentials })
  return { credentials, cookie: headers.get('set-cookie')?.split(';')[0] ?? '' }
}

/** How many jobs of the organization and of this class wait or run. */
export async function countJobs({ database }: Stage, { id }: Tenant, jobClass: JobClassName): Promise<number> {
  const { rows } = await database.query(
    'SELECT count(*)::int AS count FROM jobs WHERE organization_id = $1 AND class = $2 AND failed_at IS NULL',
    [id, jobClass],
  )
  return rows[0].count
}

/** How many deliveries to the organization's webhooks are still to be made. */
export async function countPendingDeliveries({ database }: Stage, { id }: Tenant): Promise<number> {
  const { rows } = await database.query(
    `SELECT count(*)::int AS count FROM webhook_deliveries WHERE organization_id = $1 AND status = 'pending'`,
    [id],
  )
  return rows[0].count
}
