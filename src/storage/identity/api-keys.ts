import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { Scope } from '../../model/organizations/scope.js'
import { directoryHash } from '../organizations/directory.js'
import { TENANT_COLUMNS, type TenantRow, toTenant } from '../organizations/organizations.js'

/** The row of an API key, without its hash. */
export interface ApiKey {
  id: string
  name: string
  prefix: string
  scopes: Scope[]
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  created_at: Date
}

/** The result of a key's look-up: unknown, organization deleted, or the key with its tenant. */
export type KeyLookup =
  | { found: 'nothing' }
  | { found: 'no_organization' }
  | { found: 'key'; key: Pick<ApiKey, 'id' | 'scopes' | 'expires_at' | 'revoked_at'>; tenant: Tenant }

const COLUMNS = 'id, name, prefix, scopes, expires_at, revoked_at, last_used_at, created_at'

const authenticate = sharedStatement<
  Omit<TenantRow, 'id'> & {
    id: string | null // null: the organization is deleted
    value_hash: Buffer
    key_id: string | null
    scopes: Scope[]
    expires_at: Date | null
    revoked_at: Date | null
  }
>(
  'apiKeys.authenticate',
  `SELECT d.value_hash, k.id AS key_id, k.scopes, k.expires_at, k.revoked_at, ${TENANT_COLUMNS}
   FROM directory d
   LEFT JOIN api_keys k ON k.organization_id = d.organization_id AND k.hash = d.value_hash
   LEFT JOIN kept_organizations o ON o.id = k.organization_id
   LEFT JOIN upstream_settings u ON u.organization_id = k.organization_id
   WHERE d.kind = 'api_key' AND d.value_hash = ANY ($1)`,
)

const insert = statement<ApiKey>(
  'apiKeys.insert',
  `WITH entries AS (
     INSERT INTO directory (kind, value_hash, organization_id) VALUES ('api_key', $5, $1), ('api_key_id', $8, $1)
   )
   INSERT INTO api_keys (organization_id, id, name, prefix, hash, scopes, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   RETURNING ${COLUMNS}`,
)

const list = statement<ApiKey>(
  'apiKeys.list',
  `SELECT ${COLUMNS} FROM api_keys WHERE organization_id = $1 ORDER BY created_at, id`,
)

const find = statement<ApiKey>('apiKeys.find', `SELECT ${COLUMNS} FROM api_keys WHERE organization_id = $1 AND id = $2`)

const revoke = statement<ApiKey>(
  'apiKeys.revoke',
  `UPDATE api_keys SET revoked_at = least(revoked_at, $3)
   WHERE organization_id = $1 AND id = $2
   RETURNING ${COLUMNS}`,
)

const retire = statement<ApiKey>(
  'apiKeys.retire',
  `UPDATE api_keys SET revoked_at = $4
   WHERE organization_id = $1 AND id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
   RETURNING ${COLUMNS}`,
)

const touch = statement<never>(
  'apiKeys.touch',
  'UPDATE api_keys SET last_used_at = greatest(last_used_at, $3) WHERE organization_id = $1 AND id = $2',
)

/** Looks up keys by their hashes (directoryHash), one result per hash, in order. */
export async function findKeysByHash(db: Queryable, hashes: Buffer[]): Promise<KeyLookup[]> {
  const rows = await db.run(authenticate, [hashes])
  const byHash = new Map(rows.map((row) => [row.value_hash.toString('hex'), row]))
  return hashes.map((hash) => {
    const row = byHash.get(hash.toString('hex'))
    if (!row) return { found: 'nothing' }
    if (row.key_id === null || row.id === null) return { found: 'no_organization' }
    const { key_id: id, scopes, expires_at, revoked_at } = row
    const tenant = toTenant({ ...row, id: row.id })
    return { found: 'key', key: { id, scopes, expires_at, revoked_at }, tenant }
  })
}

/** Inserts a key by its hash, with its directory entries. */
export async function insertApiKey(
  db: Queryable,
  organizationId: string,
  key: { id: string; name: string; prefix: string; hash: Buffer; scopes: readonly Scope[]; expires_at: Date | null },
): Promise<ApiKey> {
  const values = [organizationId, key.id, key.name, key.prefix, key.hash, key.scopes, key.expires_at]
  const [row] = await db.run(insert, [...values, directoryHash(key.id)])
  return row as ApiKey
}

/** The organization's keys, oldest first. */
export function listApiKeys(db: Queryable, organizationId: string): Promise<ApiKey[]> {
  return db.run(list, [organizationId])
}

/** One key, or null. */
export async function findApiKey(db: Queryable, organizationId: string, keyId: string): Promise<ApiKey | null> {
  const rows = await db.run(find, [organizationId, keyId])
  return rows[0] ?? null
}

/** Revokes a key from `at` on (an earlier revocation stays); null if there is no such key. */
export async function revokeApiKey(
  db: Queryable,
  organizationId: string,
  keyId: string,
  at: Date,
): Promise<ApiKey | null> {
  const rows = await db.run(revoke, [organizationId, keyId, at])
  return rows[0] ?? null
}

/** Sets the `end` of a key that is valid at `now`; null if there is none or it has an end already. */
export async function retireApiKey(
  db: Queryable,
  organizationId: string,
  keyId: string,
  { now, end }: { now: Date; end: Date },
): Promise<ApiKey | null> {
  const rows = await db.run(retire, [organizationId, keyId, now, end])
  return rows[0] ?? null
}

/** Stores that a key was used. */
export async function touchApiKey(db: Queryable, organizationId: string, keyId: string, at: Date): Promise<void> {
  await db.run(touch, [organizationId, keyId, at])
}
