import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { TENANT_COLUMNS, type TenantRow, toTenant } from '../organizations/organizations.js'

/** The instance of a token and its organization. */
export interface TokenHolder {
  instance: { id: string; name: string }
  tenant: Tenant
}

const authenticate = sharedStatement<TenantRow & { value_hash: Buffer; instance_id: string; instance_name: string }>(
  'instanceTokens.authenticate',
  `SELECT d.value_hash, i.id AS instance_id, i.name AS instance_name, ${TENANT_COLUMNS}
   FROM directory d
   JOIN instances i ON i.organization_id = d.organization_id AND i.token_hash = d.value_hash
   JOIN kept_organizations o ON o.id = i.organization_id
   LEFT JOIN upstream_settings u ON u.organization_id = i.organization_id
   WHERE d.kind = 'instance_token' AND d.value_hash = ANY ($1)`,
)

/** Looks up tokens by their hashes (directoryHash), one result per hash, in order; null if unknown. */
export async function findTokenHolders(db: Queryable, hashes: Buffer[]): Promise<(TokenHolder | null)[]> {
  const rows = await db.run(authenticate, [hashes])
  const byHash = new Map(rows.map((row) => [row.value_hash.toString('hex'), row]))
  return hashes.map((hash) => {
    const row = byHash.get(hash.toString('hex'))
    if (!row) return null
    const { instance_id: id, instance_name: name } = row
    return { instance: { id, name }, tenant: toTenant(row) }
  })
}
