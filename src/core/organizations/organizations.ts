import type { OperatorContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { isUuid, newId } from '../../lib/bytes/id.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { claimInDirectory, findInDirectory, releaseInDirectory } from '../../storage/organizations/directory.js'
import {
  findOrganization,
  insertOrganization,
  listOrganizations as listOrganizationRows,
  updateOrganization,
} from '../../storage/organizations/organizations.js'

/** The fields of an organization that an operator sets. */
export type OrganizationFields = Omit<
  Organization,
  'id' | 'language_chosen' | 'legal_hold' | 'suspended_at' | 'created_at' | 'updated_at'
>

type RetentionDays = Pick<OrganizationFields, 'retention_days' | 'message_retention_days'>

const DEFAULTS = {
  provider: null,
  default_country: 'BR',
  timezone: 'America/Sao_Paulo',
  currency: 'BRL',
  language: 'pt_BR',
  attribution_window_days: 7,
  retention_days: 30,
  message_retention_days: null,
  media_retention_days: null,
} as const

/** Creates an organization. Throws already_taken for the slug, invalid_field. */
export async function createOrganization(
  ctx: OperatorContext,
  fields: Pick<OrganizationFields, 'name' | 'slug'> & Partial<OrganizationFields>,
): Promise<Organization> {
  const id = newId()
  return ctx.database.transaction(async (transaction) => {
    await claimSlug(transaction, id, fields.slug)
    const stored = { ...DEFAULTS, ...fields, language_chosen: fields.language !== undefined }
    checkRetention(stored)
    return insertOrganization(transaction, id, stored)
  })
}

/** Every organization, oldest first. */
export function listOrganizations(ctx: OperatorContext): Promise<Organization[]> {
  return listOrganizationRows(ctx.database)
}

/** One organization. Throws organization_not_found. */
export async function getOrganization(ctx: OperatorContext, organizationId: string): Promise<Organization> {
  return (await findOrganization(ctx.database, organizationId)) ?? organizationNotFound(organizationId)
}

/** Finds an organization by id or slug. Throws organization_not_found. */
export async function findOrganizationByName(ctx: OperatorContext, idOrSlug: string): Promise<Organization> {
  const byId = isUuid(idOrSlug) ? await findOrganization(ctx.database, idOrSlug) : null
  if (byId) return byId
  const organizationId = await findInDirectory(ctx.database, 'slug', idOrSlug)
  const bySlug = organizationId === null ? null : await findOrganization(ctx.database, organizationId)
  if (bySlug) return bySlug
  throw new Problem('organization_not_found', `There is no organization with the id or slug "${idOrSlug}"`)
}

/** Changes the given fields. Throws organization_not_found, already_taken, invalid_field. */
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
    const stored = changes.language === undefined ? changes : { ...changes, language_chosen: true }
    const changed = await updateOrganization(transaction, organizationId, stored)
    if (changed === null) organizationNotFound(organizationId)
    checkRetention(changed)
    return changed
  })
}

/**
 * Callbacks and events hold what messages say, so deleting messages earlier would delete nothing. Throws invalid_field.
 */
export function checkRetention({ retention_days, message_retention_days: days }: RetentionDays): void {
  if (days === null || days >= retention_days) return
  throw new Problem(
    'invalid_field',
    `message_retention_days ${days} is less than retention_days ${retention_days}: raw callbacks and events, which hold the messages too, may not be kept longer than the messages`,
  )
}

async function claimSlug(transaction: Queryable, organizationId: string, slug: string): Promise<void> {
  if (await claimInDirectory(transaction, organizationId, 'slug', slug)) return
  throw new Problem('already_taken', `The slug "${slug}" belongs to another organization: choose another one`)
}

/** Throws organization_not_found. */
export function organizationNotFound(organizationId: string): never {
  throw new Problem('organization_not_found', `There is no organization with the id ${organizationId}`)
}
