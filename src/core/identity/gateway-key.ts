import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { isUuid } from '../../lib/bytes/id.js'
import { equalInConstantTime } from '../../lib/crypto/signature.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { Scope } from '../../model/organizations/scope.js'
import { Problem } from '../../model/problem.js'
import { findInDirectory } from '../../storage/organizations/directory.js'
import { findOrganization, findTenant } from '../../storage/organizations/organizations.js'
import { findOrganizationAbsence } from '../../storage/organizations/suspension.js'
import { suspended } from '../organizations/suspension.js'
import type { Caller } from './api-keys.js'

/** The operator's key of the gateway, which creates and lists the instances of one organization. */
export interface GatewayKey {
  key: string
  /** The organization's id or slug. */
  organization: string
}

const SCOPES: readonly Scope[] = ['gateway']

/**
 * Creates the function that authenticates the gateway key; it resolves to null for any other key. The organization is
 * looked up for each request. Throws organization_not_found and organization_suspended.
 */
export function createGatewayKeyAuthenticator(
  ctx: Pick<Context, 'database' | 'log'>,
  gatewayKey: GatewayKey | null,
): (presented: string) => Promise<Caller | null> {
  return async (presented) => {
    if (gatewayKey === null || !equalInConstantTime(presented, gatewayKey.key)) return null
    const tenant = await findKeyOrganization(ctx.database, gatewayKey)
    if (tenant === null) {
      const { organization } = gatewayKey
      ctx.log.warn({ organization }, 'PARLEY_GATEWAY_KEY was used, but PARLEY_GATEWAY_ORGANIZATION does not exist')
      throw new Problem('organization_not_found', 'The organization of the gateway key does not exist')
    }
    // The key has no row: its requests are counted under the organization's id.
    return { keyId: tenant.id, scopes: SCOPES, tenant, instance: null, memberId: null }
  }
}

/** The organization of the gateway key; null if it does not exist. Throws organization_suspended. */
export async function findKeyOrganization(
  db: Queryable,
  { organization }: Pick<GatewayKey, 'organization'>,
): Promise<Tenant | null> {
  const byId = isUuid(organization) ? await findOrganization(db, organization) : null
  const id = byId?.id ?? (await findInDirectory(db, 'slug', organization))
  if (id === null) return null
  const tenant = await findTenant(db, id)
  if (tenant === null && (await findOrganizationAbsence(db, id)).isSuspended) throw suspended()
  return tenant
}
