import type { Context, OperatorContext } from '../../context.js'
import { newId } from '../../lib/id.js'
import { presentEvent, type ShownEvent } from '../../model/event.js'
import { Problem } from '../../model/problem.js'
import { type Delivery, EVERY_KIND } from '../../model/webhook.js'
import {
  type AttemptedPosition,
  countReplays,
  type DeliveryFilter,
  findDeliveredEvent,
  findDelivery,
  findEventRange,
  insertReplay,
  insertReplays,
  insertTestDelivery,
  listAttemptedDeliveries,
  listDeliveryPage,
  sweepDeliveries,
} from '../../storage/webhook-log.js'
import { requireActiveWebhook, webhookNotFound } from './endpoints.js'

/** What the verbs need that leave something to be delivered. */
type ReplayContext = OperatorContext & Pick<Context, 'signals'>

const MAX_REPLAYED = 100_000
const SWEEP_BATCH = 5_000

/** A page of the organization's deliveries, newest first; the first page is 1. */
export function listDeliveries(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  { page, limit, ...filter }: DeliveryFilter & { page: number; limit: number },
): Promise<{ deliveries: Delivery[]; total: number }> {
  return listDeliveryPage(ctx.database, organizationId, filter, (page - 1) * limit, limit)
}

/** At most `limit` deliveries whose last attempt was recorded after this position, in the order of that: for those who look on. */
export function tailDeliveries(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  after: AttemptedPosition,
  limit: number,
): Promise<Delivery[]> {
  return listAttemptedDeliveries(ctx.database, organizationId, after, limit)
}

/** One delivery with what is posted; null when the event is not kept any more, or its contact was erased. Throws delivery_not_found. */
export async function readDelivery(
  ctx: Pick<Context, 'database' | 'mediaLinks'>,
  organizationId: string,
  id: string,
): Promise<{ delivery: Delivery; body: ShownEvent | null }> {
  const delivery = await requireDelivery(ctx, organizationId, id)
  const event = await findDeliveredEvent(ctx.database, organizationId, delivery)
  return { delivery, body: event && presentEvent(event, ctx.mediaLinks.urlOf) }
}

/** Raises webhook.test for one webhook only, delivered under the given id. Throws webhook_not_found, webhook_disabled. */
export async function testWebhook(
  ctx: ReplayContext,
  organizationId: string,
  webhookId: string,
  id: string,
): Promise<Delivery> {
  await requireActiveWebhook(ctx, organizationId, webhookId)
  const test = { id, eventId: newId(), at: ctx.clock() }
  const delivery = await insertTestDelivery(ctx.database, organizationId, webhookId, test)
  if (delivery === null) throw webhookNotFound(webhookId)
  ctx.signals.send({ topic: 'webhooks', organizationId })
  return delivery
}

/**
 * Has the event of a delivery delivered once more, under a new id. Throws delivery_not_found, also when there is nothing left to send,
 * webhook_not_found, webhook_disabled.
 */
export async function replayDelivery(
  ctx: ReplayContext,
  organizationId: string,
  deliveryId: string,
  id: string,
): Promise<Delivery> {
  const { webhook_id: webhookId } = await requireDelivery(ctx, organizationId, deliveryId)
  await requireActiveWebhook(ctx, organizationId, webhookId)
  const delivery = await insertReplay(ctx.database, organizationId, deliveryId, { id, at: ctx.clock() })
  if (delivery === null) {
    throw new Problem(
      'delivery_not_found',
      `The delivery ${deliveryId} cannot be replayed: its contact has been erased, or its event is not kept any more`,
    )
  }
  ctx.signals.send({ topic: 'webhooks', organizationId })
  return delivery
}

/** The delivery that an attempt to replay or test has left under its id; null where it has not come to that. */
export function recoverDelivery(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  id: string,
): Promise<Delivery | null> {
  return findDelivery(ctx.database, organizationId, id)
}

/** Events by the time at which they happened; both ends belong to it, `to` up to the end of its millisecond. */
export interface EventRange {
  from: Date
  to: Date
}

/**
 * Has every event of the range that a webhook takes delivered to it, whether it was before or not; the first delivery gets the given
 * id. Resolves to how many. Throws webhook_not_found, webhook_disabled, and invalid_field for a range that ends before it begins or holds too much.
 */
export async function replayRange(
  ctx: ReplayContext,
  organizationId: string,
  webhookId: string,
  { from, to }: EventRange,
  id: string,
): Promise<number> {
  if (to < from) throw new Problem('invalid_field', `to ${to.toISOString()} is before from ${from.toISOString()}`)
  const { events } = await requireActiveWebhook(ctx, organizationId, webhookId)
  const range = { from, before: new Date(to.getTime() + 1), kinds: events.includes(EVERY_KIND) ? null : events }
  const seqs = await findEventRange(ctx.database, organizationId, range, MAX_REPLAYED + 1)
  if (seqs.length > MAX_REPLAYED) {
    throw new Problem(
      'invalid_field',
      `from and to hold more than ${MAX_REPLAYED} events, the most that are replayed at once: narrow the range`,
    )
  }
  const replays = seqs.map((seq, index) => ({ id: index === 0 ? id : newId(), seq }))
  const count = await insertReplays(ctx.database, organizationId, webhookId, replays, ctx.clock())
  ctx.signals.send({ topic: 'webhooks', organizationId })
  return count
}

/** How many an attempt to replay a range has left under its id; null where it has not come to that. */
export async function recoverReplays(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  id: string,
): Promise<number | null> {
  const count = await countReplays(ctx.database, organizationId, id)
  return count === 0 ? null : count
}

/** Deletes the deliveries of a webhook that has been deleted, batch by batch. */
export async function sweepWebhook(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  webhookId: string,
): Promise<void> {
  while ((await sweepDeliveries(ctx.database, organizationId, webhookId, SWEEP_BATCH)) === SWEEP_BATCH);
}

async function requireDelivery(ctx: Pick<Context, 'database'>, organizationId: string, id: string): Promise<Delivery> {
  const delivery = await findDelivery(ctx.database, organizationId, id)
  if (delivery) return delivery
  throw new Problem('delivery_not_found', `There is no delivery with the id ${id} in this organization`)
}
