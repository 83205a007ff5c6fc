import type { Context } from '../context.js'
import { coalesce } from '../lib/coalesce.js'
import { newId } from '../lib/id.js'
import { asObject, asObjects, asText, isDeeperThan, type JsonObject, parseJsonObject } from '../lib/json.js'
import { equalInConstantTime, hmacSha256Hex, sha256 } from '../lib/signature.js'
import { toStorableDeep } from '../lib/text.js'
import { insertCallbacks, type StoredCallback } from '../storage/callbacks.js'
import {
  findUpstreamClaims,
  isVerifyTokenKnown,
  type UpstreamClaim,
  type UpstreamId,
} from '../storage/organizations.js'
import { applyConnectionChanges } from './instances/connection-changes.js'

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
  const findClaim = coalesce((ids: UpstreamId[]) => findUpstreamClaims(ctx.database, ids), MAX_BATCH)
  const store = coalesce(async (callbacks: StoredCallback[]) => {
    await insertCallbacks(ctx.database, callbacks)
    ctx.wakeWorkers()
    return callbacks.map(() => undefined)
  }, MAX_BATCH)
  return { receive: (body, signature) => receive(ctx, findClaim, store, body, signature) }
}

/** Whether a verification request carries a verify token that some organization chose for its app, or for that of an instance. */
export function isVerifyToken(ctx: Context, token: string): Promise<boolean> {
  return isVerifyTokenKnown(ctx.database, sha256(token))
}

type FindClaim = (id: UpstreamId) => Promise<UpstreamClaim | null>

/** A change of a callback with whom it is for; null when nobody claims its number. */
interface RoutedChange {
  entry: JsonObject
  change: JsonObject
  claim: UpstreamClaim | null
}

async function receive(
  ctx: Context,
  findClaim: FindClaim,
  store: (callback: StoredCallback) => Promise<unknown>,
  body: Buffer,
  signature: string | undefined,
): Promise<CallbackReceipt> {
  if (!signature) return 'unsigned'
  const envelope = parseJsonObject(body.toString('utf8'))
  if (!envelope) return 'not_json'

  const changes = await routeChanges(envelope, findClaim)
  const claims = new Map(changes.flatMap(({ claim }) => (claim ? [[lineOf(claim), claim]] : [])))
  if (claims.size === 0) return 'unclaimed'
  const signers = [...claims.values()].filter((claim) => isSignedBy(ctx, claim, body, signature))
  if (signers.length === 0) return 'wrong_signature'

  await Promise.all(
    signers.map(async (claim) => {
      const { organizationId, instanceId } = claim
      const own = bodyFor(claim, envelope, changes, body)
      await store({ organizationId, id: newId(), instanceId, body: own })
      await tryToConnect(ctx, organizationId, instanceId, own)
    }),
  )
  return 'stored'
}

/** Whoever has scanned a code may send when the callback has been taken; what cannot be kept now the callback's job keeps. */
async function tryToConnect(
  ctx: Context,
  organizationId: string,
  instanceId: string | null,
  body: Buffer,
): Promise<void> {
  await applyConnectionChanges(ctx, organizationId, instanceId, body).catch((error: unknown) => {
    ctx.log.warn({ err: error, organizationId, instanceId }, 'the state of a connection could not be kept at once')
  })
}

/** Each change goes its own way: by its phone number, else (templates) by the entry's business account. */
function routeChanges(envelope: JsonObject, findClaim: FindClaim): Promise<RoutedChange[]> {
  const findOnce = remembering(findClaim)
  const routed = asObjects(envelope.entry).flatMap((entry) =>
    asObjects(entry.changes).map(async (change) => {
      const id = readUpstreamId(entry, change)
      return { entry, change, claim: id === null ? null : await findOnce(id) }
    }),
  )
  return Promise.all(routed)
}

/** A body of a thousand changes names the same number a thousand times. */
function remembering(findClaim: FindClaim): FindClaim {
  const asked = new Map<string, Promise<UpstreamClaim | null>>()
  return (id) => {
    const key = `${id.kind} ${id.value}`
    const claim = asked.get(key) ?? findClaim(id)
    asked.set(key, claim)
    return claim
  }
}

function readUpstreamId(entry: JsonObject, change: JsonObject): UpstreamId | null {
  const phoneNumberId = asText(asObject(asObject(change.value).metadata).phone_number_id)
  if (phoneNumberId !== null) return { kind: 'phone_number_id', value: phoneNumberId }
  const accountId = asText(entry.id)
  return accountId === null ? null : { kind: 'business_account_id', value: accountId }
}

/** Each connection's changes are kept apart: an organization's number, and each instance with a number of its own. */
function lineOf({ organizationId, instanceId }: UpstreamClaim): string {
  return `${organizationId} ${instanceId ?? ''}`
}

function isSignedBy(ctx: Context, claim: UpstreamClaim, body: Buffer, signature: string): boolean {
  const { organizationId, instanceId, appSecret: sealed } = claim
  if (sealed === null) return false
  const appSecret = ctx.secrets.open(
    sealed,
    `${organizationId}:${instanceId === null ? 'upstream' : 'instance'}.app_secret`,
  )
  return equalInConstantTime(signature, `sha256=${hmacSha256Hex(appSecret, body)}`)
}

/** The raw bytes where the body is one connection's alone; else only its own changes: no tenant keeps another's data. */
function bodyFor(claim: UpstreamClaim, envelope: JsonObject, changes: RoutedChange[], body: Buffer): Buffer {
  const own = changes.filter((routed) => routed.claim !== null && lineOf(routed.claim) === lineOf(claim))
  if (own.length === changes.length) return body
  const entry = own.map((routed) => ({ ...routed.entry, changes: [routed.change] }))
  const ownEnvelope = { ...envelope, entry }
  return Buffer.from(JSON.stringify(isDeeperThan(ownEnvelope, MAX_DEPTH) ? toStorableDeep(ownEnvelope) : ownEnvelope))
}
