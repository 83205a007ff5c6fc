import type { Context, OperatorContext } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { Problem } from '../../model/problem.js'
import { presentEvent, type ShownEvent } from '../../model/webhooks/event.js'
import { type Delivery, EVENT_KINDS, EVERY_KIND } from '../../model/webhooks/webhook.js'
import { type EndpointRow, findEndpoint } from '../../storage/webhooks/health.js'
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
  readEventRange,
  sweepDeliveries,
} from '../../storage/webhooks/log.js'
import { requireActiveWebhook, webhookNotFound } from './endpoints.js'
import { wants } from './fan-out.js'
import { type GatewayContext, presentGatewayCall } from './gateway-call.js'

/** What the verbs need that leave something to be delivered. */
type ReplayContext = OperatorContext & Pick<Context, 'notifications'>

const MAX_REPLAYED = 100_000
const SWEEP_BATCH = 5_000
const READ_BATCH = 1_000

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

/** What is posted; of an instance's webhook its envelope, without codes to be scanned and the bytes of files. */
export type ShownBody = ShownEvent | ReturnType<typeof presentGatewayCall>

/** One delivery with what is posted; null when the event is not kept any more, or its contact was erased. Throws delivery_not_found. */
export async function readDelivery(
  ctx: GatewayContext,
  organizationId: string,
  id: string,
): Promise<{ delivery: Delivery; body: ShownBody | null }> {
  const delivery = await requireDelivery(ctx, organizationId, id)
  const event = await findDeliveredEvent(ctx.database, organizationId, delivery)
  if (event === null) return { delivery, body: null }
  const endpoint = await findEndpoint(ctx.database, organizationId, delivery.webhook_id)
  const instance = endpoint?.instance
  if (!endpoint || !instance) return { delivery, body: presentEvent(event, ctx.mediaLinks.urlOf) }
  return { delivery, body: presentGatewayCall(ctx, { ...endpoint, instance }, event) }
}

/**
 * Raises webhook.test for one webhook only, delivered under the given id. Throws webhook_not_found, also for an instance's, whose
 * language has no such event, and webhook_disabled.
 */
export async function testWebhook(
  ctx: ReplayContext,
  organizationId: string,
  webhookId: string,
  id: string,
): Promise<Delivery> {
  const { instance_id } = await requireActiveWebhook(ctx, organizationId, webhookId)
  if (instance_id !== null) throw webhookNotFound(webhookId)
  const test = { id, eventId: newId(), at: ctx.clock() }
  const delivery = await insertTestDelivery(ctx.database, organizationId, webhookId, test)
  if (delivery === null) throw webhookNotFound(webhookId)
  ctx.notifications.send({ topic: 'webhooks', organizationId })
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
  ctx.notifications.send({ topic: 'webhooks', organizationId })
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
  await requireActiveWebhook(ctx, organizationId, webhookId)
  const endpoint = await findEndpoint(ctx.database, organizationId, webhookId)
  if (endpoint === null) throw webhookNotFound(webhookId)
  const seqs = await findWanted(ctx, organizationId, endpoint, { from, before: new Date(to.getTime() + 1) })
  if (seqs.length > MAX_REPLAYED) {
    throw new Problem(
      'invalid_field',
      `from and to hold more than ${MAX_REPLAYED} events, the most that are replayed at once: narrow the range`,
    )
  }
  const replays = seqs.map((seq, index) => ({ id: index === 0 ? id : newId(), seq }))
  const count = await insertReplays(ctx.database, organizationId, webhookId, replays, ctx.clock())
  ctx.notifications.send({ topic: 'webhooks', organizationId })
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

/** The events of a time that a webhook takes, one more at most than are replayed. */
async function findWanted(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  endpoint: EndpointRow,
  range: { from: Date; before: Date },
): Promise<number[]> {
  if (endpoint.instance !== null) return findWantedOfGateway(ctx, organizationId, endpoint, range)
  const kinds = endpoint.events.includes(EVERY_KIND) ? EVENT_KINDS : endpoint.events
  return findEventRange(ctx.database, organizationId, { ...range, kinds }, MAX_REPLAYED + 1)
}

/** What an event is to an instance does not stand in its kind alone. */
async function findWantedOfGateway(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  endpoint: EndpointRow,
  range: { from: Date; before: Date },
): Promise<number[]> {
  const seqs: number[] = []
  for (let after = 0; seqs.length <= MAX_REPLAYED; ) {
    const events = await readEventRange(ctx.database, organizationId, { ...range, after }, READ_BATCH)
    seqs.push(...events.filter((event) => wants(endpoint, event)).map(({ seq }) => seq))
    const last = events.at(-1)
    if (last === undefined || events.length < READ_BATCH) break
    after = last.seq
  }
  return seqs
}

async function requireDelivery(ctx: Pick<Context, 'database'>, organizationId: string, id: string): Promise<Delivery> {
  const delivery = await findDelivery(ctx.database, organizationId, id)
  if (delivery) return delivery
  throw new Problem('delivery_not_found', `There is no delivery with the id ${id} in this organization`)
}
