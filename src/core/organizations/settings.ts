import type { Context, OperatorContext } from '../../context.js'
import { presentSettings, type ShownSettings } from '../../model/organizations/settings.js'
import { findStorefrontSettings, findTenant } from '../../storage/organizations/organizations.js'
import { organizationNotFound } from './organizations.js'

/**
 * The settings of the organization and its connections, for an owner. `callbackFields`: those to subscribe to at the
 * upstream. Throws organization_not_found.
 */
export async function readSettings(
  ctx: OperatorContext & Pick<Context, 'publicUrl'>,
  organizationId: string,
  callbackFields: readonly string[],
): Promise<ShownSettings> {
  const [tenant, storefront] = await Promise.all([
    findTenant(ctx.database, organizationId),
    findStorefrontSettings(ctx.database, organizationId),
  ])
  const found = tenant ?? organizationNotFound(organizationId)
  return presentSettings(found, storefront?.url ?? null, { publicUrl: ctx.publicUrl(), callbackFields })
}
