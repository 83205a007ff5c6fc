import type { Context } from '../../context.js'
import type { Broadcast } from '../../model/broadcasts/broadcast.js'
import { type Restriction, whyRestricted } from '../../model/organizations/restriction.js'
import { untilNextDeferred } from '../../storage/broadcasts/deferrals.js'
import { hasPendingRecipients, type Lane } from '../../storage/broadcasts/sending.js'

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
