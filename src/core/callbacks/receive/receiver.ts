import type { Context, RequestContext } from '../../../context.js'
import { batch } from '../../../lib/async/batcher.js'
import { FairPlaces } from '../../../lib/async/fair-places.js'
import { createRestingTurns, type RestingTurns } from '../../../lib/async/resting-turns.js'
import { newId } from '../../../lib/bytes/id.js'
import { sha256 } from '../../../lib/crypto/signature.js'
import type { JsonObject } from '../../../lib/text/json.js'
import { countJsonValues } from '../../../lib/text/json-bytes.js'
import { insertCallbacks, type StoredCallback } from '../../../storage/callbacks/callbacks.js'
import {
  findUpstreamClaims,
  isVerifyTokenKnown,
  type UpstreamClaim,
  type UpstreamId,
} from '../../../storage/organizations/organizations.js'
import { applyConnectionChanges, readConnectionChanges } from '../../instances/manage/connection-changes.js'
import { checkSoon } from '../../organizations/connecting/check.js'
import { parseBody } from '../read/parse-body.js'
import { type NoteRefusal, noteRefusals } from './refusals.js'
import { bodyOf, type IdentifiedChange, keyOfId, type NamedId, namedIds, readChanges, scanIds } from './routing.js'
import { isSample, noteSample } from './sample.js'
import { findAppSecret, type NamedClaim, openAppSecret } from './signature.js'

/**
 * The result of a callback. Only one that is stored, or a sample, may be acknowledged. `suspended`: some of it is for an
 * organization that is suspended.
 */
export type CallbackReceipt = 'stored' | 'sample' | 'suspended' | 'not_json' | 'wrong_signature' | 'too_many_values'

/** The sender of a body, who can be anybody. */
export interface CallbackSender {
  network: string
  /** Whether the sender has hung up; what has not begun then does not begin. */
  isGone: () => boolean
}

/** Receives callbacks of the upstream. */
export interface CallbackReceiver {
  /**
   * Verifies the signature of a body and stores its changes. `signature`: the HMAC-SHA256 under the app secret, as 64
   * lower-case hexadecimal digits. A body that names no id of an organization counts as wrongly signed. `traceparent`: the
   * trace of the request, if it is recorded.
   */
  receive(body: Buffer, signature: string, from: CallbackSender, traceparent: string | null): Promise<CallbackReceipt>
}

/** Maximum number of ids that are looked up before the signature is verified. Genuine bodies name a handful. */
const MAX_UNVERIFIED_IDS = 100
/**
 * Maximum number of ids that are looked up after that. The upstream puts at most 1,000 changes into a body; changes of
 * further ids are dropped.
 */
const MAX_IDS = 1_000
/**
 * Larger bodies are parsed only after their signature is verified, one of an app at a time. Until then they are read one
 * after the other, round robin by network, for half of the time, since anybody can send them.
 */
const PARSED_UNVERIFIED_BYTES = 64 * 1_024
const LARGE_VERIFIED = { places: 4, ofOneKey: 1 }
/**
 * What has more is not of the upstream, whose values have twenty bytes and more, and would take too much time and memory.
 */
export const MAX_CALLBACK_VALUES = 400_000

const MAX_BATCH = 200
/** Bodies that name more ids are looked up separately, in smaller batches. */
const FEW_IDS = 5
const MAX_BATCH_OF_MANY = 10

type FindClaims = (ids: readonly UpstreamId[]) => Promise<(UpstreamClaim | null)[]>

interface Receiving {
  ctx: Context
  findClaims: FindClaims
  store: (callback: StoredCallback) => Promise<unknown>
  noteRefusal: NoteRefusal
  /** Runs the reading of large bodies that are not verified, by network. */
  inTurn: RestingTurns
  /** The places for parsing large bodies that are verified, by the app secret. */
  parsing: FairPlaces
}

/**
 * Creates the callback receiver of this process. Callbacks of the same moment are looked up and stored together.
 * `countRefusal` is called with each that is refused because of its signature.
 */
export function createCallbackReceiver(
  ctx: RequestContext,
  countRefusal: (isKnown: boolean) => void = () => undefined,
): CallbackReceiver {
  const store = batch(async (callbacks: StoredCallback[]) => {
    await insertCallbacks(ctx.database, callbacks)
    return callbacks.map(() => undefined)
  }, MAX_BATCH)
  const turns = { inTurn: createRestingTurns(), parsing: new FairPlaces(LARGE_VERIFIED) }
  // Says whether the app has another secret now. Without it, the next hourly check does.
  const check = (organizationId: string) => void checkSoon(ctx, organizationId).catch(() => undefined)
  const noteRefusal = noteRefusals(ctx.log, countRefusal, check)
  const receiving = { ctx, findClaims: createLookUp(ctx), store, noteRefusal, ...turns }
  return {
    receive: async (body, signature, from, traceparent) => {
      const given = { body, signature, traceparent }
      return body.length <= PARSED_UNVERIFIED_BYTES
        ? receiveSmall(receiving, given)
        : receiveLarge(receiving, given, from)
    },
  }
}

/** Whether an organization chose this verify token for its app, or for the app of an instance. */
export function isVerifyToken(ctx: Context, token: string): Promise<boolean> {
  return isVerifyTokenKnown(ctx.database, sha256(token))
}

/** One query for all bodies of the same moment. Bodies with many ids delay only each other. */
function createLookUp({ database }: Context): FindClaims {
  const findAll = async (idsOfBodies: (readonly UpstreamId[])[]) => {
    const claims = await findUpstreamClaims(database, idsOfBodies.flat())
    return idsOfBodies.map((ids) => claims.splice(0, ids.length))
  }
  const findFew = batch(findAll, MAX_BATCH)
  const findMany = batch(findAll, MAX_BATCH_OF_MANY)
  return (ids) => (ids.length <= FEW_IDS ? findFew(ids) : findMany(ids))
}

interface GivenBody {
  body: Buffer
  signature: string
  traceparent: string | null
}

async function receiveSmall(receiving: Receiving, given: GivenBody): Promise<CallbackReceipt> {
  const { body, signature } = given
  const envelope = parseBody(body)
  if (envelope === null) return 'not_json'
  const changes = readChanges(envelope)
  const claims = await findClaims(receiving, namedIds(changes, MAX_UNVERIFIED_IDS))
  const appSecret = await findAppSecret(receiving.ctx, [...claims.values()], body, signature)
  if (appSecret !== null) return storeVerified(receiving, given, envelope, { appSecret, claims })
  return isSample(body, changes) && (await noteSample(receiving.ctx, body, signature))
    ? 'sample'
    : refuse(receiving, claims)
}

async function receiveLarge(
  receiving: Receiving,
  given: GivenBody,
  { network, isGone }: CallbackSender,
): Promise<CallbackReceipt> {
  const { body, signature } = given
  const { ctx, inTurn, parsing } = receiving
  const ids = await inTurn(network, async () => (isGone() ? null : scanIds(body, MAX_UNVERIFIED_IDS)))
  if (ids === null) return 'wrong_signature'
  const claims = await findClaims(receiving, ids)
  const appSecret = await inTurn(network, async () =>
    isGone() ? null : findAppSecret(ctx, [...claims.values()], body, signature),
  )
  if (appSecret === null) return isGone() ? 'wrong_signature' : refuse(receiving, claims)
  if (countJsonValues(body, MAX_CALLBACK_VALUES) > MAX_CALLBACK_VALUES) return 'too_many_values'
  return parsing.run(appSecret, async () => storeVerified(receiving, given, parseBody(body), { appSecret, claims }))
}

function refuse({ noteRefusal }: Receiving, claims: ReadonlyMap<string, NamedClaim>): CallbackReceipt {
  noteRefusal(claims)
  return 'wrong_signature'
}

async function findClaims(receiving: Receiving, ids: readonly NamedId[]): Promise<Map<string, NamedClaim>> {
  const claims = ids.length === 0 ? [] : await receiving.findClaims(ids)
  return new Map(ids.map((id, index) => [keyOfId(id), { claim: claims[index] ?? null, changes: id.changes }]))
}

/**
 * Stores a body that is signed with `appSecret`, the changes of each channel separately. Changes of other apps are
 * dropped. Those of suspended organizations are not stored: the upstream repeats the body, and what is stored twice is
 * recorded once.
 */
async function storeVerified(
  receiving: Receiving,
  { body, traceparent }: GivenBody,
  envelope: JsonObject | null,
  { appSecret, claims }: { appSecret: string; claims: Map<string, NamedClaim> },
): Promise<CallbackReceipt> {
  if (envelope === null) return 'not_json'
  const changes = readChanges(envelope)
  const furtherIds = namedIds(changes, MAX_IDS).filter((id) => !claims.has(keyOfId(id)))
  const verified = new Map<string, UpstreamClaim>()
  for (const [id, { claim }] of [...claims, ...(await findClaims(receiving, furtherIds))]) {
    if (claim && openAppSecret(receiving.ctx, claim) === appSecret) verified.set(id, claim)
  }
  const groups = groupByChannel(changes, verified)
  if (groups.length === 0) return 'wrong_signature'
  const working = groups.filter(({ claim }) => !claim.isSuspended)
  await Promise.all(
    working.map(async ({ claim: { organizationId, instanceId }, own }) => {
      // Other tenants' changes are cut out. If there are none, the raw bytes are stored.
      const ownBody = own.length === changes.length ? body : bodyOf(envelope, own)
      await receiving.store({ organizationId, id: newId(), instanceId, body: ownBody, traceparent })
      await tryToConnect(receiving.ctx, organizationId, instanceId, own)
    }),
  )
  return working.length < groups.length ? 'suspended' : 'stored'
}

/** The changes of one channel: the organization's number, or an instance with its own number. */
interface ChannelChanges {
  claim: UpstreamClaim
  own: IdentifiedChange[]
}

function groupByChannel(
  changes: readonly IdentifiedChange[],
  claims: ReadonlyMap<string, UpstreamClaim>,
): ChannelChanges[] {
  const groups = new Map<string, ChannelChanges>()
  for (const change of changes) {
    const claim = change.id && claims.get(keyOfId(change.id))
    if (!claim) continue
    const key = `${claim.organizationId} ${claim.instanceId ?? ''}`
    const channel = groups.get(key)
    if (channel) channel.own.push(change)
    else groups.set(key, { claim, own: [change] })
  }
  return [...groups.values()]
}

/**
 * Opens an instance as soon as its code has been scanned, so that it can send at once. If this fails, it happens when
 * the callback is processed.
 */
async function tryToConnect(
  ctx: Context,
  organizationId: string,
  instanceId: string | null,
  own: readonly IdentifiedChange[],
): Promise<void> {
  const changes = readConnectionChanges({ entry: [{ changes: own.map(({ change }) => change) }] })
  await applyConnectionChanges(ctx, organizationId, { instanceId, changes }).catch((error: unknown) => {
    ctx.log.warn({ err: error, organizationId, instanceId }, 'the state of an instance could not be updated at once')
  })
}
