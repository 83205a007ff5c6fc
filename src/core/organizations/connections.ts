import type { Context, CredentialsContext, OperatorContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { sha256 } from '../../lib/crypto/signature.js'
import type { UpstreamChanges } from '../../model/organizations/operator-input.js'
import type { Organization, Tenant } from '../../model/organizations/organization.js'
import { DEFAULT_MESSAGES_PER_SECOND } from '../../model/organizations/rate.js'
import { Problem } from '../../model/problem.js'
import { hasInstanceNumber } from '../../storage/instances/instances.js'
import { claimInDirectory, releaseFromDirectory, releaseInDirectory } from '../../storage/organizations/directory.js'
import {
  findStorefrontSettings,
  findTenantsById,
  listConnectedOrganizations,
  lockStorefrontSettings,
  lockUpstreamSettings,
  putStorefrontSettings,
  putUpstreamSettings,
  type StoredUpstream,
  updateOrganization,
} from '../../storage/organizations/organizations.js'
import { enqueueOrderSync } from '../../storage/storefront/orders.js'
import { enqueueTemplateSync } from '../../storage/templates/templates.js'
import { openBusinessNumber } from './business-number.js'
import { missingSetting } from './missing-setting.js'
import { getOrganization, organizationNotFound } from './organizations.js'
import { requireOpenedAccount, requireOpenedNumber } from './upstream-proof.js'

/**
 * Connects an organization with its number and sets its provider to `upstream`; a job then reads the templates. Absent
 * fields stay as they are. Throws organization_not_found, already_taken if another organization has the number or
 * business account, and missing_field for a missing secret.
 */
export async function connectUpstream(
  ctx: CredentialsContext,
  organizationId: string,
  changes: UpstreamChanges,
): Promise<Organization> {
  await getOrganization(ctx, organizationId)
  const { phone_number_id, business_account_id } = changes
  return ctx.database.transaction(async (transaction) => {
    const stored = await lockUpstreamSettings(transaction, organizationId)
    const rest = completeUpstream(ctx, organizationId, changes, stored)
    await claimUpstreamIds(transaction, organizationId, phone_number_id, business_account_id)
    await putUpstreamSettings(transaction, organizationId, { phone_number_id, business_account_id, ...rest })
    await enqueueTemplateSync(transaction, organizationId)
    const connected = await updateOrganization(transaction, organizationId, { provider: 'upstream' })
    // Before the commit, because a worker may ask the simulator for templates right after it.
    await linkWithSimulator(ctx, transaction, [organizationId])
    return connected ?? organizationNotFound(organizationId)
  })
}

/**
 * Like connectUpstream, for an owner. New ids must be readable with the access token; otherwise strangers could claim
 * the ids of others. With a simulator the ids are registered there instead. Also throws upstream_credentials and
 * upstream_unavailable.
 */
export async function connectOwnUpstream(
  ctx: Context,
  tenant: Tenant,
  changes: UpstreamChanges,
): Promise<Organization> {
  if (ctx.linkWithSimulator === null || !(await ctx.isSimulated())) await requireOpenedIds(ctx, tenant, changes)
  return connectUpstream(ctx, tenant.id, changes)
}

async function requireOpenedIds(
  ctx: Context,
  { id, upstream: stored }: Tenant,
  { phone_number_id, business_account_id, access_token, app_secret }: UpstreamChanges,
): Promise<void> {
  const known = stored && openBusinessNumber(ctx, id, stored)
  const accessToken = access_token ?? known?.accessToken ?? missingSetting('access_token')
  const access = { accessToken, appSecret: app_secret ?? known?.appSecret }
  if (phone_number_id !== stored?.phone_number_id) {
    await requireOpenedNumber(ctx, { phoneNumberId: phone_number_id, ...access })
  }
  if (business_account_id !== stored?.business_account_id) {
    await requireOpenedAccount(ctx, { businessAccountId: business_account_id, ...access })
  }
}

/** The address of the organization's storefront; null if none is connected. Throws organization_not_found. */
export async function getStorefrontUrl(ctx: OperatorContext, organizationId: string): Promise<string | null> {
  await getOrganization(ctx, organizationId)
  return (await findStorefrontSettings(ctx.database, organizationId))?.url ?? null
}

/** The storefront settings as given; absent secrets stay as they are. */
export interface StorefrontChanges {
  url: string
  access_token?: string | undefined
  webhook_secret?: string | undefined
}

/**
 * Connects an organization with its storefront; a job then reads the orders. Throws organization_not_found, and
 * missing_field for a missing secret or an access_token that belongs to another url.
 */
export async function connectStorefront(
  ctx: CredentialsContext,
  organizationId: string,
  { url, access_token, webhook_secret }: StorefrontChanges,
): Promise<void> {
  await getOrganization(ctx, organizationId)
  const seal = (value: string | undefined, name: string) =>
    value === undefined ? undefined : ctx.secrets.seal(value, `${organizationId}:storefront.${name}`)
  await ctx.database.transaction(async (transaction) => {
    const stored = await lockStorefrontSettings(transaction, organizationId)
    // The stored token must not be sent to a new address.
    const kept = stored?.url === url ? stored : null
    await putStorefrontSettings(transaction, organizationId, {
      url,
      access_token:
        seal(access_token, 'access_token') ?? kept?.access_token ?? missingSetting('access_token', stored?.url),
      webhook_secret:
        seal(webhook_secret, 'webhook_secret') ?? stored?.webhook_secret ?? missingSetting('webhook_secret', undefined),
    })
    await enqueueOrderSync(transaction, organizationId)
  })
}

/** Registers the numbers of all organizations with the simulator, if one is in use. */
export async function linkAllWithSimulator(ctx: CredentialsContext): Promise<void> {
  if (!ctx.linkWithSimulator) return
  await linkWithSimulator(ctx, ctx.database, await listConnectedOrganizations(ctx.database))
}

/** Registers the numbers of these organizations, as `db` sees them. Throws if the simulator does not accept one. */
export async function linkWithSimulator(
  ctx: CredentialsContext,
  db: Queryable,
  organizationIds: string[],
): Promise<void> {
  if (!ctx.linkWithSimulator) return
  const tenants = await findTenantsById(db, organizationIds)
  for (const { id, upstream } of tenants.values()) {
    if (!upstream) continue
    await ctx.linkWithSimulator({
      ...openBusinessNumber(ctx, id, upstream),
      businessAccountId: upstream.business_account_id,
    })
  }
}

/** The settings besides the ids: given, else stored, else the default. Throws missing_field. */
function completeUpstream(
  { secrets }: Pick<Context, 'secrets'>,
  organizationId: string,
  changes: UpstreamChanges,
  stored: StoredUpstream | null,
): Omit<StoredUpstream, 'phone_number_id' | 'business_account_id'> {
  const { access_token, app_secret, verify_token, messages_per_second, pair_limit } = changes
  const seal = (value: string | undefined, name: string) =>
    value === undefined ? undefined : secrets.seal(value, `${organizationId}:upstream.${name}`)
  const hash = verify_token === undefined ? undefined : sha256(verify_token)
  return {
    access_token: seal(access_token, 'access_token') ?? stored?.access_token ?? missingSetting('access_token'),
    app_secret: seal(app_secret, 'app_secret') ?? stored?.app_secret ?? missingSetting('app_secret'),
    verify_token_hash: hash ?? stored?.verify_token_hash ?? missingSetting('verify_token'),
    messages_per_second: messages_per_second ?? stored?.messages_per_second ?? DEFAULT_MESSAGES_PER_SECOND,
    pair_limit: pair_limit ?? stored?.pair_limit ?? true,
  }
}

/** Claims the ids of the organization's number and releases the previous ones, unless an instance uses them. */
async function claimUpstreamIds(
  transaction: Queryable,
  organizationId: string,
  phoneNumberId: string,
  businessAccountId: string,
): Promise<void> {
  const before = (await findTenantsById(transaction, [organizationId])).get(organizationId)?.upstream?.phone_number_id
  await claimUpstreamId(transaction, organizationId, 'phone_number_id', phoneNumberId)
  await claimUpstreamId(transaction, organizationId, 'business_account_id', businessAccountId)
  await releaseInDirectory(transaction, organizationId, 'business_account_id', businessAccountId)
  if (before === undefined || before === phoneNumberId) return
  if (await hasInstanceNumber(transaction, organizationId, before)) return
  await releaseFromDirectory(transaction, organizationId, 'phone_number_id', before)
}

async function claimUpstreamId(
  transaction: Queryable,
  organizationId: string,
  kind: 'phone_number_id' | 'business_account_id',
  value: string,
): Promise<void> {
  if (!(await claimInDirectory(transaction, organizationId, kind, value))) {
    throw new Problem('already_taken', `The ${kind} ${value} is claimed by another organization`)
  }
}
