import type { CredentialsContext, OperatorContext } from '../context.js'
import type { Queryable } from '../database/pool.js'
import { retryOnDeadlock } from '../database/retry.js'
import { isUuid, newId } from '../lib/id.js'
import { sha256 } from '../lib/signature.js'
import type { Organization } from '../model/organization.js'
import { Problem } from '../model/problem.js'
import { claimInDirectory, findInDirectory, releaseFromDirectory, releaseInDirectory } from '../storage/directory.js'
import { letInstancesGo, lockInstances } from '../storage/instance-leases.js'
import { hasInstanceNumber } from '../storage/instances.js'
import {
  deleteOrganization as deleteOrganizationRows,
  findOrganization,
  findStorefrontSettings,
  findTenantsById,
  insertOrganization,
  listConnectedOrganizations,
  listOrganizations as listOrganizationRows,
  putStorefrontSettings,
  putUpstreamSettings,
  sweepOrganization,
  updateOrganization,
} from '../storage/organizations.js'
import { enqueueOrderSync } from '../storage/storefront-orders.js'
import { enqueueTemplateSync } from '../storage/templates.js'
import { openBusinessNumber } from './business-number.js'

/** What an operator says of an organization (contract 3). */
export type OrganizationFields = Omit<Organization, 'id' | 'created_at' | 'updated_at'>

const DEFAULTS = {
  provider: null,
  default_country: 'BR',
  timezone: 'America/Sao_Paulo',
  currency: 'BRL',
  language: 'pt_BR',
} as const

/** Creates an organization. Throws already_taken when the slug is. */
export async function createOrganization(
  ctx: OperatorContext,
  fields: Pick<OrganizationFields, 'name' | 'slug'> & Partial<OrganizationFields>,
): Promise<Organization> {
  const id = newId()
  return ctx.database.transaction(async (transaction) => {
    await claimSlug(transaction, id, fields.slug)
    return insertOrganization(transaction, id, { ...DEFAULTS, ...fields })
  })
}

/** Every organization, oldest first. */
export function listOrganizations(ctx: OperatorContext): Promise<Organization[]> {
  return listOrganizationRows(ctx.database)
}

/** One organization. Throws organization_not_found. */
export async function getOrganization(ctx: OperatorContext, organizationId: string): Promise<Organization> {
  return (await findOrganization(ctx.database, organizationId)) ?? notFound(organizationId)
}

/** The organization that somebody names by its id or its slug. Throws organization_not_found. */
export async function findOrganizationByName(ctx: OperatorContext, idOrSlug: string): Promise<Organization> {
  const byId = isUuid(idOrSlug) ? await findOrganization(ctx.database, idOrSlug) : null
  if (byId) return byId
  const organizationId = await findInDirectory(ctx.database, 'slug', idOrSlug)
  const bySlug = organizationId === null ? null : await findOrganization(ctx.database, organizationId)
  if (bySlug) return bySlug
  throw new Problem('organization_not_found', `There is no organization with the id or slug "${idOrSlug}"`)
}

/** Changes the given fields. Throws organization_not_found, already_taken. */
export async function changeOrganization(
  ctx: OperatorContext,
  organizationId: string,
  changes: Partial<OrganizationFields>,
): Promise<Organization> {
  await getOrganization(ctx, organizationId)
  return ctx.database.transaction(async (transaction) => {
    if (changes.slug !== undefined) {
      await claimSlug(transaction, organizationId, changes.slug)
      await releaseInDirectory(transaction, organizationId, 'slug', changes.slug)
    }
    return (await updateOrganization(transaction, organizationId, changes)) ?? notFound(organizationId)
  })
}

/**
 * Deletes an organization with all its data; the hashes of its keys stay. Its linked devices are let go first and for themselves: a
 * process renews all its leases at once, and while it waited for rows that are being deleted, it would lose those of everybody else. One
 * that dies in between leaves the organization whole, with its devices not connected. Throws organization_not_found.
 */
export async function deleteOrganization(ctx: OperatorContext, organizationId: string): Promise<void> {
  let deleted: boolean | 'held' = 'held'
  // Somebody may connect a device at the same moment.
  while (deleted === 'held') {
    await letInstancesGo(ctx.database, organizationId)
    // A status or a transcription takes its message first, and the contact after it.
    deleted = await retryOnDeadlock(() =>
      ctx.database.transaction(async (transaction) =>
        (await lockInstances(transaction, organizationId))
          ? 'held'
          : deleteOrganizationRows(transaction, organizationId),
      ),
    )
  }
  if (!deleted) notFound(organizationId)
}

/** Deletes what requests under way still wrote for an organization while it was deleted. */
export function sweepDeletedOrganization(ctx: OperatorContext, organizationId: string): Promise<void> {
  return sweepOrganization(ctx.database, organizationId)
}

/** The organization's number and credentials at the upstream, in clear. */
export interface UpstreamCredentials {
  phone_number_id: string
  business_account_id: string
  access_token: string
  app_secret: string
  verify_token: string
  /** 0 = unpaced. */
  messages_per_second: number
  pair_limit: boolean
}

/**
 * Connects an organization with its number, whose templates a job then asks for; its provider becomes `upstream`. Throws
 * organization_not_found, and already_taken when another organization claims the number or the business account.
 */
export async function connectUpstream(
  ctx: CredentialsContext,
  organizationId: string,
  credentials: UpstreamCredentials,
): Promise<Organization> {
  await getOrganization(ctx, organizationId)
  const { phone_number_id, business_account_id, messages_per_second, pair_limit } = credentials
  const organization = await ctx.database.transaction(async (transaction) => {
    await claimUpstreamIds(transaction, organizationId, phone_number_id, business_account_id)
    await putUpstreamSettings(transaction, organizationId, {
      phone_number_id,
      business_account_id,
      access_token: ctx.secrets.seal(credentials.access_token, `${organizationId}:upstream.access_token`),
      app_secret: ctx.secrets.seal(credentials.app_secret, `${organizationId}:upstream.app_secret`),
      verify_token_hash: sha256(credentials.verify_token),
      messages_per_second,
      pair_limit,
    })
    await enqueueTemplateSync(transaction, organizationId)
    const connected = await updateOrganization(transaction, organizationId, { provider: 'upstream' })
    // Before the commit, after which a worker may ask the simulator for the templates at once.
    await linkWithSimulator(ctx, transaction, [organizationId])
    return connected ?? notFound(organizationId)
  })
  ctx.wakeWorkers()
  return organization
}

/** Where the organization's storefront is, or null where none is connected. Throws organization_not_found. */
export async function getStorefrontUrl(ctx: OperatorContext, organizationId: string): Promise<string | null> {
  await getOrganization(ctx, organizationId)
  return (await findStorefrontSettings(ctx.database, organizationId))?.url ?? null
}

/** Connects an organization with its storefront, whose orders a job then asks for. Throws organization_not_found. */
export async function connectStorefront(
  ctx: CredentialsContext,
  organizationId: string,
  { url, access_token, webhook_secret }: { url: string; access_token: string; webhook_secret: string },
): Promise<void> {
  await getOrganization(ctx, organizationId)
  const settings = {
    url,
    access_token: ctx.secrets.seal(access_token, `${organizationId}:storefront.access_token`),
    webhook_secret: ctx.secrets.seal(webhook_secret, `${organizationId}:storefront.webhook_secret`),
  }
  await ctx.database.transaction(async (transaction) => {
    await putStorefrontSettings(transaction, organizationId, settings)
    await enqueueOrderSync(transaction, organizationId)
  })
  ctx.wakeWorkers()
}

/** Makes the simulator, where one is in use, know the numbers of all organizations. */
export async function linkAllWithSimulator(ctx: CredentialsContext): Promise<void> {
  if (!ctx.linkWithSimulator) return
  await linkWithSimulator(ctx, ctx.database, await listConnectedOrganizations(ctx.database))
}

async function linkWithSimulator(ctx: CredentialsContext, db: Queryable, organizationIds: string[]): Promise<void> {
  if (!ctx.linkWithSimulator) return
  const tenants = await findTenantsById(db, organizationIds)
  for (const { id, upstream } of tenants.values()) {
    if (!upstream) continue
    await ctx.linkWithSimulator({
      ...openBusinessNumber(ctx, id, upstream),
      businessAccountId: upstream.business_account_id,
      appSecret: ctx.secrets.open(upstream.app_secret, `${id}:upstream.app_secret`),
    })
  }
}

async function claimSlug(transaction: Queryable, organizationId: string, slug: string): Promise<void> {
  if (await claimInDirectory(transaction, organizationId, 'slug', slug)) return
  throw new Problem('already_taken', `The slug "${slug}" belongs to another organization: choose another one`)
}

/** Claims the ids of the organization's number, and gives back those of the one before, unless an instance has that one. */
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

function notFound(organizationId: string): never {
  throw new Problem('organization_not_found', `There is no organization with the id ${organizationId}`)
}
