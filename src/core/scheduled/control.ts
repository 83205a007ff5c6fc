import type { Context } from '../../context.js'
import type { Scheduled, ScheduledStatus, ShownScheduled } from '../../model/messages/scheduled.js'
import { type PageRequest, readBoundedPage } from '../../model/page.js'
import { Problem } from '../../model/problem.js'
import { checkOfferEnd } from '../../model/templates/fill-parts.js'
import { countPausedScheduled } from '../../storage/scheduled/paused.js'
import { cancelScheduled, changeScheduled, findScheduled, listScheduled } from '../../storage/scheduled/scheduled.js'

type ControlContext = Pick<Context, 'database' | 'clock'>

/** Which scheduled messages a list has; null: no filter. */
export interface ScheduledFilter {
  contactId: string | null
  status: ScheduledStatus | null
}

/** A page of the messages that wait for their time, the next one first, and their number. */
export function listScheduledMessages(
  { database }: ControlContext,
  organizationId: string,
  { contactId, status, ...page }: ScheduledFilter & PageRequest,
): Promise<{ scheduled: ShownScheduled[]; total: number }> {
  return readBoundedPage(page, 'Filter by contact_id or status.', (offset, limit) =>
    listScheduled(database, organizationId, { contactId, status, limit, offset }),
  )
}

/**
 * Changes the time, the text, or both, of a message that waits (null: unchanged); a paused one with a new time is
 * scheduled again. Throws scheduled_not_found, scheduled_state, and invalid_field for the text of another kind, or a time
 * after the end of its offer.
 */
export async function changeScheduledMessage(
  ctx: ControlContext,
  organizationId: string,
  id: string,
  change: { scheduledAt: Date | null; text: string | null },
): Promise<Scheduled> {
  const { shown, status, command } = await requireScheduled(ctx, organizationId, id)
  if (change.text !== null && shown.message_type !== 'text') {
    throw new Problem(
      'invalid_field',
      `text can be changed of text messages only, and this is ${shown.message_type}: cancel it and schedule another one`,
    )
  }
  if (change.scheduledAt !== null && command.kind === 'template' && command.parts.offerEndsAt !== null) {
    checkOfferEnd(new Date(command.parts.offerEndsAt), change.scheduledAt)
  }
  if (!(await changeScheduled(ctx.database, organizationId, id, change))) {
    throw await wrongState(ctx, organizationId, id, { action: 'changed', status })
  }
  return requireScheduled(ctx, organizationId, id)
}

/** Cancels a message that waits. Throws scheduled_not_found, also if it is cancelled already, and scheduled_state. */
export async function cancelScheduledMessage(
  ctx: ControlContext,
  organizationId: string,
  id: string,
): Promise<Scheduled> {
  const found = await requireScheduled(ctx, organizationId, id)
  if (!(await cancelScheduled(ctx.database, organizationId, id, ctx.clock()))) {
    throw await wrongState(ctx, organizationId, id, { action: 'cancelled', status: found.status })
  }
  return { ...found, status: 'cancelled' }
}

/** A scheduled message in any state but cancelled. Throws scheduled_not_found. */
async function requireScheduled({ database }: ControlContext, organizationId: string, id: string): Promise<Scheduled> {
  const scheduled = await findScheduled(database, organizationId, id)
  if (scheduled === null || scheduled.status === 'cancelled') throw notFound(id)
  return scheduled
}

async function wrongState(
  ctx: ControlContext,
  organizationId: string,
  id: string,
  { action, status: before }: { action: string; status: ScheduledStatus },
): Promise<Problem> {
  const scheduled = await findScheduled(ctx.database, organizationId, id)
  const status = scheduled?.status ?? before
  if (status === 'cancelled') return notFound(id)
  const is = {
    scheduled: 'being sent at this moment',
    paused: 'being changed at this moment',
    sending: 'being sent at this moment',
    sent: 'sent',
    failed: 'in its conversation, since it failed',
  }[status]
  return new Problem('scheduled_state', `The message ${id} cannot be ${action}: it is ${is}`)
}

function notFound(id: string): Problem {
  return new Problem(
    'scheduled_not_found',
    `No message with the id ${id} waits to be sent: GET /scheduled lists those that do`,
  )
}

/** How many messages of all organizations are paused, until somebody gives them a new time or cancels them. */
export async function findPausedCount({ database, clock }: ControlContext): Promise<number> {
  const paused = await countPausedScheduled(database, clock())
  return paused.reduce((sum, { count }) => sum + count, 0)
}
