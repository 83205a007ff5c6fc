import type { Context } from '../../context.js'
import type { Broadcast } from '../../model/broadcasts/broadcast.js'
import type { Tenant } from '../../model/organizations/organization.js'
import type { OwnNumber } from '../../model/organizations/own-number.js'
import { type Restriction, whyRestricted } from '../../model/organizations/restriction.js'
import { untilNextDeferred } from '../../storage/broadcasts/deferrals.js'
import { hasPendingRecipients, type Lane, WHOLE } from '../../storage/broadcasts/sending.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import { lanesOf } from '../messages/send/choose-number.js'
import { listNumbers } from '../organizations/numbers.js'

/** A lane, and what the upstream refuses to send from its number. */
interface RestrictedLane {
  restrictions: readonly Restriction[] | null
  lane: Lane
}

/**
 * Throws account_restricted if the upstream would refuse the templates of a lane at that time, and the lane has any to
 * send.
 */
export async function refuseRestrictedLane(
  { database }: Pick<Context, 'database'>,
  { organization_id, id }: Pick<Broadcast, 'organization_id' | 'id'>,
  { restrictions, lane }: RestrictedLane,
  at: Date,
): Promise<void> {
  const problem = whyRestricted(restrictions, 'template', at)
  if (problem === null) return
  const isDue =
    (await hasPendingRecipients(database, organization_id, id, lane)) ||
    (await untilNextDeferred(database, organization_id, id, lane)) !== null
  if (isDue) throw problem
}

/** The same of all numbers that a broadcast sends from. */
export async function refuseRestrictedNumbers(
  ctx: Pick<Context, 'database'>,
  broadcast: Pick<Broadcast, 'organization_id' | 'id' | 'from_number'>,
  at: Date,
): Promise<void> {
  const tenant = await findTenant(ctx.database, broadcast.organization_id)
  if (tenant === null) return
  for (const restricted of lanes(tenant, await listNumbers(ctx, tenant), broadcast.from_number)) {
    await refuseRestrictedLane(ctx, broadcast, restricted, at)
  }
}

function lanes(tenant: Tenant, numbers: readonly OwnNumber[], fromNumber: string | null): RestrictedLane[] {
  if (fromNumber !== null) {
    const number = numbers.find(({ phone_number_id }) => phone_number_id === fromNumber)
    return [{ restrictions: number?.restrictions ?? null, lane: WHOLE }]
  }
  const further = lanesOf(tenant, numbers)
  const others = further.flatMap(({ instance_id }) => instance_id ?? [])
  return [
    { restrictions: tenant.upstream?.restrictions ?? null, lane: { instanceId: null, others } },
    ...further.map(({ instance_id: instanceId, restrictions }) => ({
      restrictions,
      lane: { instanceId, others: null },
    })),
  ]
}
