import type { OperatorContext } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { newId } from '../../lib/bytes/id.js'
import type { LegalHold, Organization, ReleasedHold } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import {
  listReleasedHolds,
  lockLegalHold,
  releaseLegalHold,
  setLegalHold,
} from '../../storage/organizations/legal-hold.js'
import { getOrganization } from './organizations.js'

// See docs/decisions/retention.md.

/**
 * Sets a legal hold: until it is released, nothing of the organization is deleted. Returns when no deletion is under
 * way. Throws organization_not_found, legal_hold if one is on.
 */
export async function holdOrganization(
  ctx: OperatorContext,
  organizationId: string,
  { reason, by }: { reason: string; by: string },
): Promise<Organization> {
  const held = await setLegalHold(ctx.database, organizationId, { reason, by, since: ctx.clock().toISOString() })
  if (held) return held
  const { slug } = await getOrganization(ctx, organizationId)
  throw new Problem('legal_hold', `A legal hold is already on the organization "${slug}": release it first`)
}

/** Releases the legal hold. Throws organization_not_found, legal_hold if none is on. */
export async function releaseOrganization(
  ctx: OperatorContext,
  organizationId: string,
  by: string,
): Promise<Organization> {
  const released = await releaseLegalHold(ctx.database, organizationId, { id: newId(), by, at: ctx.clock() })
  if (released) return released
  const { slug } = await getOrganization(ctx, organizationId)
  throw new Problem('legal_hold', `No legal hold is on the organization "${slug}"`)
}

/** The holds that were released, the last one first. Throws organization_not_found. */
export async function listPastHolds(ctx: OperatorContext, organizationId: string): Promise<ReleasedHold[]> {
  await getOrganization(ctx, organizationId)
  return listReleasedHolds(ctx.database, organizationId)
}

/** Throws legal_hold if one is on. Until the end of the transaction, none can be set. */
export async function requireNoHold(transaction: Queryable, organizationId: string): Promise<void> {
  const hold = await lockLegalHold(transaction, organizationId)
  if (hold !== null) throw heldBy(hold)
}

/** The problem of a deletion while this hold is on. */
export function heldBy({ since }: LegalHold): Problem {
  return new Problem(
    'legal_hold',
    `A legal hold has been on the organization since ${since}: nothing of it can be deleted until the operator of the service releases it`,
  )
}
