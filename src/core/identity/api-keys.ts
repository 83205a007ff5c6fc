import { randomBytes } from 'node:crypto'
import type { OperatorContext, RequestContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { batch } from '../../lib/async/batcher.js'
import { newId } from '../../lib/bytes/id.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { SCOPES, type Scope } from '../../model/organizations/scope.js'
import { Problem } from '../../model/problem.js'
import {
  type ApiKey,
  findApiKey,
  findKeysByHash,
  insertApiKey,
  listApiKeys,
  retireApiKey,
  revokeApiKey,
  touchApiKey,
} from '../../storage/identity/api-keys.js'
import { directoryHash, findInDirectory } from '../../storage/organizations/directory.js'
import { findOrganization } from '../../storage/organizations/organizations.js'
import { refuseSuspended } from '../organizations/suspension.js'

/** Every key starts with this and an underscore. */
const KEY_PREFIX = 'parley'

/** The author of a request: an API key with its organization, or a signed-in member. */
export interface Caller {
  /** For a member: the member's id. */
  keyId: string
  scopes: readonly Scope[]
  tenant: Tenant
  /** The one instance that the key opens, if it is an instance's token; null for a key of the organization. */
  instance: { id: string; name: string } | null
  /** The signed-in member; null for keys. */
  memberId: string | null
}

const MAX_BATCH = 500
const TOUCH_MS = 60_000
/** Keys whose use was noted recently; more than any service has in use at the same time. */
const MAX_TOUCHED = 100_000

/**
 * Creates the function that authenticates a key. Every request asks the database, so that a revocation takes effect
 * with the next request in every process; requests of the same moment share one query. Throws invalid_api_key with the
 * reason, organization_not_found, or organization_suspended.
 */
export function createAuthenticator(ctx: RequestContext): (key: string) => Promise<Caller> {
  const lookUp = batch((hashes: Buffer[]) => findKeysByHash(ctx.database, hashes), MAX_BATCH)
  const touched = new Map<string, number>()

  function noteUse(organizationId: string, keyId: string, now: Date): void {
    if (now.getTime() - (touched.get(keyId) ?? 0) < TOUCH_MS) return
    if (touched.size >= MAX_TOUCHED) touched.clear()
    touched.set(keyId, now.getTime())
    touchApiKey(ctx.database, organizationId, keyId, now).catch((error) =>
      ctx.log.warn({ err: error }, "a key's use could not be noted"),
    )
  }

  return async (presented) => {
    if (!isApiKey(presented)) {
      throw new Problem('invalid_api_key', `API keys of this service start with ${KEY_PREFIX}_`)
    }
    const found = await lookUp(directoryHash(presented))
    if (found.found === 'nothing') throw new Problem('invalid_api_key', 'API key is not known')
    if (found.found === 'no_organization') {
      throw new Problem('organization_not_found', 'The organization of this API key has been deleted')
    }
    const { key, tenant } = found
    const now = ctx.clock()
    if (key.revoked_at && key.revoked_at <= now) throw new Problem('invalid_api_key', 'API key has been revoked')
    if (key.expires_at && key.expires_at <= now) throw new Problem('invalid_api_key', 'API key has expired')
    refuseSuspended(tenant)
    noteUse(tenant.id, key.id, now)
    return { keyId: key.id, scopes: key.scopes, tenant, instance: null, memberId: null }
  }
}

/** True if a text looks like an API key; no other secret of Parley begins like one. */
export function isApiKey(presented: string): boolean {
  return presented.startsWith(`${KEY_PREFIX}_`)
}

/** A key with its secret text, to be shown once. */
export type IssuedKey = ApiKey & { key: string }

/** Issues a key. Throws organization_not_found. */
export async function issueApiKey(
  ctx: OperatorContext,
  organizationId: string,
  { name, scopes, expires_at }: { name: string; scopes?: readonly Scope[]; expires_at?: Date | null },
): Promise<IssuedKey> {
  await requireOrganization(ctx, organizationId)
  const wanted = { name, scopes: scopes ?? SCOPES, expires_at: expires_at ?? null }
  return insertNewKey(ctx.database, organizationId, ctx.cell, wanted)
}

async function insertNewKey(
  db: Queryable,
  organizationId: string,
  cell: string | null,
  wanted: { name: string; scopes: readonly Scope[]; expires_at: Date | null },
): Promise<IssuedKey> {
  // The name of the cell is there for proxies: the key is looked up as a whole.
  const start = cell === null ? `${KEY_PREFIX}_` : `${KEY_PREFIX}_${cell}_`
  const key = start + randomBytes(32).toString('base64url')
  const row = { ...wanted, id: newId(), prefix: key.slice(0, start.length + 6), hash: directoryHash(key) }
  return { ...(await insertApiKey(db, organizationId, row)), key }
}

/** The organization's keys. Throws organization_not_found. */
export async function listKeys(ctx: OperatorContext, organizationId: string): Promise<ApiKey[]> {
  await requireOrganization(ctx, organizationId)
  return listApiKeys(ctx.database, organizationId)
}

/** The organization of a key; operators give only the key's id. Throws api_key_not_found. */
export async function findKeyOrganization(ctx: OperatorContext, keyId: string): Promise<string> {
  // The directory has the hash of the id in lower case.
  return (await findInDirectory(ctx.database, 'api_key_id', keyId.toLowerCase())) ?? notFound(keyId)
}

/**
 * Replaces a key of the organization; the old one works for `overlapSeconds` more. Throws api_key_not_found,
 * api_key_ended.
 */
export async function rotateKey(
  ctx: OperatorContext,
  organizationId: string,
  keyId: string,
  overlapSeconds: number,
): Promise<IssuedKey> {
  const key = (await findApiKey(ctx.database, organizationId, keyId)) ?? notFound(keyId)
  const now = ctx.clock()
  const end = new Date(now.getTime() + overlapSeconds * 1000)
  return ctx.database.transaction(async (transaction) => {
    if (!(await retireApiKey(transaction, organizationId, key.id, { now, end }))) {
      throw new Problem('api_key_ended', `The API key ${keyId} is revoked, rotated or expired already: issue a new one`)
    }
    return insertNewKey(transaction, organizationId, ctx.cell, key)
  })
}

/** Revokes a key of the organization from the next request on. Throws api_key_not_found. */
export async function revokeKey(ctx: OperatorContext, organizationId: string, keyId: string): Promise<ApiKey> {
  return (await revokeApiKey(ctx.database, organizationId, keyId, ctx.clock())) ?? notFound(keyId)
}

function notFound(keyId: string): never {
  throw new Problem('api_key_not_found', `There is no API key with the id ${keyId}`)
}

async function requireOrganization(ctx: OperatorContext, organizationId: string): Promise<void> {
  if (await findOrganization(ctx.database, organizationId)) return
  throw new Problem('organization_not_found', `There is no organization with the id ${organizationId}`)
}
