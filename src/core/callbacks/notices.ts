import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { asText } from '../../lib/text/json.js'
import { readTimestamp } from '../../lib/text/timestamp.js'
import type { Notice } from '../../model/organizations/notice.js'
import type { Organization } from '../../model/organizations/organization.js'
import { restrictionsAt } from '../../model/organizations/restriction.js'
import { Problem } from '../../model/problem.js'
import type { WaitingCallback } from '../../storage/callbacks/callbacks.js'
import { closeNotice, insertNotice, listOpenNotices } from '../../storage/callbacks/notices.js'
import type { ReportedNotice } from './read/read-notices.js'

/** How many notices the console shows. */
const SHOWN = 100

/**
 * Records what a stored callback reports about the account and its numbers, and raises account.updated or
 * number.updated. What the numbers of the organization's account may not send any more is refused from then on, and
 * their broadcasts pause. Applying it again changes nothing.
 */
export async function applyNotices(
  ctx: Pick<Context, 'database' | 'clock'>,
  organizationId: string,
  notices: readonly ReportedNotice[],
  { instanceId, receivedAt }: Pick<WaitingCallback, 'instanceId' | 'receivedAt'>,
): Promise<void> {
  for (const { timestamp, restrictions, ...notice } of notices) {
    await insertNotice(ctx.database, organizationId, {
      ...notice,
      id: newId(),
      eventId: newId(),
      instanceId,
      at: readTimestamp(timestamp) ?? receivedAt,
      restrictions: instanceId === null ? restrictions : null,
      onlyNumber: asText(notice.value?.phone_number)?.replace(/\D/g, '') ?? null,
      stopsBroadcasts: restrictionsAt(restrictions, ctx.clock()).some(({ of }) => of !== 'answers'),
    })
  }
}

/** The notices of an organization that nobody has dealt with, critical ones first, then the newest first. */
export function listNotices({ database }: Pick<Context, 'database'>, organization: Organization): Promise<Notice[]> {
  return listOpenNotices(database, organization.id, SHOWN)
}

/** Records that a member has dealt with a notice. Throws not_found. */
export async function markNoticeDone(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  organization: Organization,
  id: string,
): Promise<Notice> {
  const closed = await closeNotice(database, organization.id, id, clock())
  if (closed === null) throw new Problem('not_found', `There is no notice ${id}`)
  return closed
}
