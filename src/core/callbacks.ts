import type { Context } from '../context.js'
import { coalesce } from '../lib/coalesce.js'
import { newId } from '../lib/id.js'
import { asObject, asObjects, asText, isDeeperThan, type JsonObject, parseJsonObject } from '../lib/json.js'
import { equalInConstantTime, hmacSha256Hex, sha256 } from '../lib/signature.js'
import { toStorableDeep } from '../lib/text.js'
import type { Tenant } from '../model/organization.js'
import { insertCallbacks, type StoredCallback } from '../storage/callbacks.js'
import { findTenantsByUpstreamIds, isVerifyTokenKnown, type UpstreamId } from '../storage/organizations.js'

/** What became of a callback: only a stored one may be acknowledged (contract 6). */
export type CallbackReceipt = 'stored' | 'not_json' | 'unsigned' | 'wrong_signature' | 'unclaimed'

/** Takes callbacks of the upstream in. */
export interface CallbackReceiver {
  /** Checks who a body is for and that it is signed, and stores it. `signature` is the header X-Hub-Signature-256. */
  receive(body: Buffer, signature: string | undefined): Promise<CallbackReceipt>
}

const MAX_BATCH = 200
/** What nests deeper is not read anyway, and cannot be written again without running out of stack. */
const MAX_DEPTH = 64

/** Makes the receiver of a process: callbacks that come together are looked up and stored together. */
export function createCallbackReceiver(ctx: Context): CallbackReceiver {
  const findTenant = coalesce((ids: UpstreamId[]) => findTenantsByUpstreamIds(ctx.database, ids), MAX_BATCH)
  const store = coalesce(async (callbacks: StoredCallback[]) => {
    await insertCallbacks(ctx.database, callbacks)
    ctx.wakeWorkers()
    return callbacks.map(() => undefined)
  }, MAX_BATCH)
  return { receive: (body, signature) => receive(ctx, findTenant, store, body, signature) }
}

/** Whether a verification request carries a verify token that some organization chose for its app. */
export function isVerifyToken(ctx: Context, token: string): Promise<boolean> {
  return isVerifyTokenKnown(ctx.database, sha256(token))
}

/** A change of a callback with the organization that it is for; null when nobody claims its number. */
interface RoutedChange {
  entry: JsonObject
  change: JsonObject
  tenant: Tenant | null
}

async function receive(
  ctx: Context,
  findTenant: (id: UpstreamId) => Promise<Tenant | null>,
  store: (callback: StoredCallback) => Promise<unknown>,
  body: Buffer,
  signature: string | undefined,
): Promise<CallbackReceipt> {
  if (!signature) return 'unsigned'
  const envelope = parseJsonObject(body.toString('utf8'))
  if (!envelope) return 'not_json'

  const changes = await routeChanges(envelope, findTenant)
  const tenants = new Map(changes.flatMap(({ tenant }) => (tenant ? [[tenant.id, tenant]] : [])))
  if (tenants.size === 0) return 'unclaimed'
  const signers = [...tenants.values()].filter((tenant) => isSignedBy(ctx, tenant, body, signature))
  if (signers.length === 0) return 'wrong_signature'

  await Promise.all(
    signers.map((tenant) =>
      store({ organizationId: tenant.id, id: newId(), body: bodyFor(tenant, envelope, changes, body) }),
    ),
  )
  return 'stored'
}

/** Each change goes its own way: by its phone number, else (templates) by the entry's business account. */
function routeChanges(
  envelope: JsonObject,
  findTenant: (id: UpstreamId) => Promise<Tenant | null>,
): Promise<RoutedChange[]> {
  const findOnce = remembering(findTenant)
  const routed = asObjects(envelope.entry).flatMap((entry) =>
    asObjects(entry.changes).map(async (change) => {
      const id = readUpstreamId(entry, change)
      return { entry, change, tenant: id === null ? null : await findOnce(id) }
    }),
  )
  return Promise.all(routed)
}

/** A body of a thousand changes names the same number a thousand times. */
function remembering(findTenant: (id: UpstreamId) => Promise<Tenant | null>): typeof findTenant {
  const asked = new Map<string, Promise<Tenant | null>>()
  return (id) => {
    const key = `${id.kind} ${id.value}`
    const tenant = asked.get(key) ?? findTenant(id)
    asked.set(key, tenant)
    return tenant
  }
}

function readUpstreamId(entry: JsonObject, change: JsonObject): UpstreamId | null {
  const phoneNumberId = asText(asObject(asObject(change.value).metadata).phone_number_id)
  if (phoneNumberId !== null) return { kind: 'phone_number_id', value: phoneNumberId }
  const accountId = asText(entry.id)
  return accountId === null ? null : { kind: 'business_account_id', value: accountId }
}

function isSignedBy(ctx: Context, { id, upstream }: Tenant, body: Buffer, signature: string): boolean {
  if (!upstream) return false
  const appSecret = ctx.secrets.open(upstream.app_secret, `${id}:upstream.app_secret`)
  return equalInConstantTime(signature, `sha256=${hmacSha256Hex(appSecret, body)}`)
}

/** The raw bytes where the body is one organization's alone; else only its own changes: no tenant keeps another's data. */
function bodyFor(tenant: Tenant, envelope: JsonObject, changes: RoutedChange[], body: Buffer): Buffer {
  const own = changes.filter((routed) => routed.tenant?.id === tenant.id)
  if (own.length === changes.length) return body
  const entry = own.map((routed) => ({ ...routed.entry, changes: [routed.change] }))
  const ownEnvelope = { ...envelope, entry }
  return Buffer.from(JSON.stringify(isDeeperThan(ownEnvelope, MAX_DEPTH) ? toStorableDeep(ownEnvelope) : ownEnvelope))
}
