import { createHash, randomBytes } from 'node:crypto'
import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import { type Call, createCall, expectStatus } from './client.js'
import { type Customer, type Line, playConversation, type Stage } from './conversation.js'
import { type DemoRecord, readDemoRecord, writeDemoRecord } from './file.js'

/** The organization that the first start creates for trying things out. */
export interface Demo {
  organization: { name: string; slug: string }
  apiKey: string
  /** Signs the organization's owner in once; new after each start. */
  signInUrl: string
}

export interface DemoOptions {
  /** The service's address from this process. */
  url: string
  adminToken: string
  dataDir: string
  /** The sandbox's storefront, with a new address after each start; null if there is none. */
  storefrontUrl: string | null
  /** Ends the creation of the demo; the next start completes it. */
  signal: AbortSignal
}

const ORGANIZATION = { name: 'Demo shop', slug: 'demo', default_country: 'BR', language: 'pt_BR' }
const KEY_NAME = 'Demo'
const OWNER = { email: 'owner@demo.example', full_name: 'Demo Owner', role: 'owner' }

const ANA: Customer = { name: 'Ana Souza', number: '5511900001234' }
const BRUNO: Customer = { name: 'Bruno Lima', number: '5521900005678' }
const CHIARA: Customer = { name: 'Chiara Rossi', number: '393400001234' }

/** The order that Ana asks for, as the storefront's API names it. */
export const DEMO_ORDER = { id: 450_789_469, order_number: 1_001, total_price: '249.90', currency: 'BRL' }

/** The recipient of the printed examples. */
export const DEMO_CONTACT = ANA

const ANAS_LINES: readonly Line[] = [
  { by: 'customer', id: 'ana-1', text: 'Hi! Do you have the blue dress in size M?' },
  { by: 'shop', id: 'ana-2', text: 'Hi Ana! Yes, two are left. Shall we keep one for you?' },
  { by: 'customer', id: 'ana-3', text: 'Please do. Can I pick it up on Saturday?' },
  { by: 'shop', id: 'ana-4', text: 'Of course: we are open from 9 to 18 h.', isReply: true },
  { by: 'customer', id: 'ana-5', emoji: '❤️' },
  { by: 'customer', id: 'ana-6', text: 'And has my order #1001 been sent already?' },
]
const BRUNOS_LINES: readonly Line[] = [{ by: 'customer', id: 'bruno-1', text: 'Hello, do you deliver to Niterói?' }]

/**
 * Creates what is missing of the demo, through the API. Every step can be repeated, so a later start completes one that
 * was killed. A finished demo is left as its user changed it. Throws if the service refuses something.
 */
export async function ensureDemo({ url, adminToken, dataDir, storefrontUrl, signal }: DemoOptions): Promise<Demo> {
  const call = createCall(url, signal)
  const found = await readDemoRecord(dataDir)
  const organization = await ensureOrganization(call, adminToken, found)
  const { id, name, slug } = organization
  const record = { ...(await ensureKey(call, adminToken, id, { dataDir, kept: found })), url }
  if (!record.finished) {
    const phoneNumberId = await ensureNumber(call, adminToken, organization)
    await fill({ call, apiKey: record.api_key, adminToken, phoneNumberId, organizationId: id, signal })
  }
  await writeDemoRecord(dataDir, { ...record, finished: true })
  if (storefrontUrl !== null) await ensureStorefront(call, adminToken, id, storefrontUrl)
  const signInUrl = await makeSignInLink(call, adminToken, await ensureOwner(call, adminToken, id))
  return { organization: { name, slug }, apiKey: record.api_key, signInUrl }
}

interface Organization {
  id: string
  name: string
  slug: string
  provider: string | null
}

async function ensureOrganization(call: Call, token: string, record: DemoRecord | null): Promise<Organization> {
  const listed = expectStatus(await call('GET', '/admin/organizations', { token }), [200], 'GET /admin/organizations')
  const organizations = asObjects(listed.organizations)
  const found =
    organizations.find(({ id }) => id === record?.organization_id) ??
    organizations.find(({ slug }) => slug === ORGANIZATION.slug)
  if (found) return toOrganization(found)
  const made = await call('POST', '/admin/organizations', { token, body: ORGANIZATION })
  return toOrganization(asObject(expectStatus(made, [201], 'POST /admin/organizations').organization))
}

function toOrganization({ id, name, slug, provider }: JsonObject): Organization {
  return { id: String(id), name: String(name), slug: String(slug), provider: asText(provider) }
}

/** The stored key if it works, otherwise a new one, which is stored before it is used. */
async function ensureKey(
  call: Call,
  token: string,
  organizationId: string,
  { dataDir, kept }: { dataDir: string; kept: DemoRecord | null },
): Promise<DemoRecord> {
  if (kept?.organization_id === organizationId && (await works(call, kept.api_key))) return kept
  await revokeUnusedKeys(call, token, organizationId)
  const issued = await call('POST', `/admin/organizations/${organizationId}/keys`, { token, body: { name: KEY_NAME } })
  const { key } = asObject(expectStatus(issued, [201], 'POST /admin/organizations/{id}/keys').api_key)
  const finished = kept?.organization_id === organizationId && kept.finished
  const record = { organization_id: organizationId, api_key: String(key), finished, url: kept?.url ?? null }
  await writeDemoRecord(dataDir, record)
  return record
}

async function works(call: Call, apiKey: string): Promise<boolean> {
  const { status } = await call('GET', `/contact?chat_id=${DEMO_CONTACT.number}`, { token: apiKey })
  return status === 200 || status === 404
}

/** A killed start may have issued a key without storing it. */
async function revokeUnusedKeys(call: Call, token: string, organizationId: string): Promise<void> {
  const path = `/admin/organizations/${organizationId}/keys`
  const { api_keys: keys } = expectStatus(
    await call('GET', path, { token }),
    [200],
    'GET /admin/organizations/{id}/keys',
  )
  const unused = asObjects(keys).filter(
    ({ name, last_used_at, revoked_at }) => name === KEY_NAME && last_used_at === null && revoked_at === null,
  )
  for (const { id } of unused) await call('DELETE', `/admin/keys/${id}`, { token })
}

/** The id of the demo organization's number, derived from the organization's id because it cannot be read back. */
export function demoNumberId(organizationId: string): string {
  return inventId(`${organizationId} phone number`)
}

async function ensureNumber(call: Call, token: string, { id, provider }: Organization): Promise<string> {
  const phoneNumberId = demoNumberId(id)
  if (provider === null) {
    const credentials = {
      phone_number_id: phoneNumberId,
      business_account_id: inventId(`${id} business account`),
      access_token: randomBytes(24).toString('base64url'),
      app_secret: randomBytes(24).toString('base64url'),
      verify_token: randomBytes(24).toString('base64url'),
    }
    const connected = await call('PUT', `/admin/organizations/${id}/upstream`, { token, body: credentials })
    expectStatus(connected, [200], 'PUT /admin/organizations/{id}/upstream')
  }
  return phoneNumberId
}

/** If the team has been changed, one of its owners. */
async function ensureOwner(call: Call, token: string, organizationId: string): Promise<string> {
  const path = `/admin/organizations/${organizationId}/members`
  const { members } = expectStatus(await call('GET', path, { token }), [200], `GET ${path}`)
  const owners = asObjects(members).filter(({ role }) => role === OWNER.role)
  const found = owners.find(({ email }) => email === OWNER.email) ?? owners[0]
  if (found) return String(found.id)
  const made = await call('POST', path, { token, body: OWNER })
  return String(asObject(expectStatus(made, [201], `POST ${path}`).member).id)
}

async function makeSignInLink(call: Call, token: string, memberId: string): Promise<string> {
  const path = `/admin/members/${memberId}/sign-in-link`
  const { link } = expectStatus(await call('POST', path, { token }), [201], `POST ${path}`)
  return String(asObject(link).url)
}

/** The sandbox loses its orders at the end and starts at another address. A storefront set by a user stays. */
async function ensureStorefront(call: Call, token: string, organizationId: string, url: string): Promise<void> {
  const path = `/admin/organizations/${organizationId}/storefront`
  const { storefront } = expectStatus(await call('GET', path, { token }), [200], `GET ${path}`)
  const known = asText(asObject(storefront).url)
  if (known !== null && !isOfSandbox(known, url)) return
  if (known !== url) {
    const secrets = {
      access_token: randomBytes(24).toString('base64url'),
      webhook_secret: randomBytes(24).toString('hex'),
    }
    expectStatus(await call('PUT', path, { token, body: { url, ...secrets } }), [200], `PUT ${path}`)
  }
  const placed = await call('POST', '/_sim/shop/orders', { token, body: DEMO_ORDER })
  expectStatus(placed, [200, 201], 'POST /_sim/shop/orders')
}

/** The port changes with each start. */
function isOfSandbox(known: string, url: string): boolean {
  const [one, other] = [new URL(known), new URL(url)]
  return one.hostname === other.hostname && one.pathname === other.pathname
}

/** Fifteen digits, like the upstream's ids. */
function inventId(seed: string): string {
  const number = createHash('sha256').update(seed).digest().readBigUInt64BE() % 10n ** 14n
  return `1${String(number).padStart(14, '0')}`
}

async function fill(stage: Stage): Promise<void> {
  for (const { name, number } of [ANA, BRUNO, CHIARA]) {
    const made = await stage.call('POST', '/contact', {
      token: stage.apiKey,
      idempotencyKey: `demo-${number}`,
      body: { phone_number: `+${number}`, full_name: name, tags: ['demo'] },
    })
    expectStatus(made, [201, 409], 'POST /contact')
  }
  await playConversation(stage, ANA, ANAS_LINES)
  await playConversation(stage, BRUNO, BRUNOS_LINES)
}
