import type { Context, OperatorContext } from '../../context.js'
import type { Organization, Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import {
  findOrganizationAbsence,
  insertForward,
  resumeOrganizationRow,
  suspendOrganizationRow,
} from '../../storage/organizations/suspension.js'
import { organizationNotFound } from './organizations.js'

// See docs/decisions/moving-an-organization.md.

/** About as long as a large organization takes to move. */
const RETRY_SECONDS = 30

/**
 * Suspends an organization: its requests and callbacks are refused with 503, and nothing works for it, until it is
 * resumed. What is in progress ends within seconds. Changes nothing if it is suspended. Throws organization_not_found.
 */
export async function suspendOrganization(ctx: OperatorContext, organizationId: string): Promise<Date> {
  const since = await suspendOrganizationRow(ctx.database, organizationId)
  if (since === null) return organizationNotFound(organizationId)
  // Deliveries about to be made are in memory.
  ctx.notifications.send({ topic: 'webhooks', organizationId })
  return since
}

/** Ends the suspension; old links are no longer led elsewhere. Throws forbidden if it is not suspended. */
export async function resumeOrganization(ctx: OperatorContext, { id, slug }: Organization): Promise<void> {
  if (!(await resumeOrganizationRow(ctx.database, id))) throw notSuspended(slug)
}

/**
 * Leads the old links of a suspended organization to the cell at `url`, also when it is deleted here. Throws
 * invalid_field, and forbidden if it is not suspended.
 */
export async function forwardOrganization(
  ctx: OperatorContext,
  { id, slug, suspended_at }: Organization,
  url: string,
): Promise<string> {
  if (suspended_at === null) throw notSuspended(slug)
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.hash !== '') {
    throw new Problem(
      'invalid_field',
      `"${url}" is not the address of a cell: give one like https://us1.chat.example.com`,
    )
  }
  const base = parsed.href.replace(/\/+$/, '')
  await insertForward(ctx.database, id, base)
  return base
}

/** Throws forbidden for an organization that is not suspended. */
export function requireSuspended({ slug, suspended_at }: Organization): void {
  if (suspended_at === null) throw notSuspended(slug)
}

function notSuspended(slug: string): Problem {
  return new Problem('forbidden', `The organization "${slug}" is not suspended: run parley org suspend ${slug} first`)
}

/** The organization with its number, for an operator's work. Throws organization_not_found, organization_suspended. */
export async function requireTenant({ database }: Pick<Context, 'database'>, organizationId: string): Promise<Tenant> {
  const tenant = await findTenant(database, organizationId)
  if (tenant !== null) return tenant
  throw (await findOrganizationAbsence(database, organizationId)).isSuspended
    ? suspended()
    : organizationNotFound(organizationId)
}

/** Throws organization_suspended. */
export function refuseSuspended({ suspended_at }: Pick<Organization, 'suspended_at'>): void {
  if (suspended_at !== null) throw suspended()
}

/** The problem of whoever asks for a suspended organization. */
export function suspended(): Problem {
  const text = `The organization is suspended while it is being moved: try again in ${RETRY_SECONDS} s`
  return new Problem('organization_suspended', text, { retry_after: RETRY_SECONDS })
}

/**
 * The URL of the cell to which the links of an organization lead that is not found here; null: to none. Throws
 * organization_suspended if it is only suspended.
 */
export async function whereMoved(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
): Promise<string | null> {
  const { movedTo, isSuspended } = await findOrganizationAbsence(database, organizationId)
  if (movedTo === null && isSuspended) throw suspended()
  return movedTo
}
