import type { Context, OperatorContext } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { Again } from '../../model/jobs.js'
import { type PageRequest, readBoundedPage } from '../../model/page.js'
import { Problem } from '../../model/problem.js'
import { presentEvent, type ShownEvent } from '../../model/webhooks/event.js'
import { type AttemptRow, type Delivery, EVENT_KINDS, EVERY_KIND } from '../../model/webhooks/webhook.js'
import { lockLegalHold } from '../../storage/organizations/legal-hold.js'
import { type EndpointRow, findEndpoint } from '../../storage/webhooks/health.js'
import {
  type AttemptedPosition,
  countReplays,
  type DeliveryFilter,
  findDeliveredEvent,
  findDelivery,
  findEventRange,
  hasOlderDeliveries,
  insertReplay,
  insertReplays,
  insertTestDelivery,
  LOOKED_THROUGH,
  listAttemptedDeliveries,
  listDeliveryPage,
  listLastAttempts,
  readEventRange,
  sweepDeliveries,
} from '../../storage/webhooks/log.js'
import { findBusinessNumbers } from '../organizations/numbers.js'
import { requireReplayable } from './backlog.js'
import { wants } from './delivery/fan-out.js'
import { type GatewayContext, presentGatewayCall } from './delivery/gateway-call.js'
import { requireActiveWebhook, webhookNotFound } from './endpoints.js'

type ReplayContext = OperatorContext & Pick<Context, 'notifications'>

const MAX_REPLAYED = 100_000
const SWEEP_BATCH = 5_000
/** How often a job looks whether a legal hold was released. */
const AFTER_HOLD_MS = 3_600_000
const READ_BATCH = 1_000

/**
 * A page of the organization's deliveries, newest first, counted up to `COUNT_LIMIT`. Throws invalid_parameter: page too
 * deep, or a status that is not found among the newest deliveries.
 */
export function listDeliveries(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
  { page, limit, ...filter }: DeliveryFilter & PageRequest,
): Promise<{ deliveries: Delivery[]; total: number }> {
  const { webhookId, status } = filter
  return readBoundedPage({ page, limit }, 'Filter by webhook_id or status', async (skip, limit) => {
    const found = await listDeliveryPage(database, organizationId, filter, { skip, limit })
    const isFull = skip + limit <= found.total
    if (webhookId === null && status !== null && !isFull && (await hasOlderDeliveries(database, organizationId))) {
      throw new Problem(
        'invalid_parameter',
        `page ${page} of status "${status}" is not among the newest ${LOOKED_THROUGH} deliveries, which are all that ` +
          'are looked through: filter by webhook_id, too',
      )
    }
    return found
  })
}

/** The last attempt of each webhook of the organization that is among its newest 1,000, by the id of the webhook. */
export async function findLastAttempts(
  { database }: Pick<Context, 'database'>,
  organizationId: string,
): Promise<Map<string, AttemptRow>> {
  const found = await listLastAttempts(database, organizationId)
  return new Map(found.map(({ webhook_id, attempt }) => [webhook_id, attempt]))
}

/**
 * At most `limit` deliveries whose last attempt was recorded after this position, in that order; for following live.
 */
export function tailDeliveries(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  after: AttemptedPosition,
  limit: number,
): Promise<Delivery[]> {
  return listAttemptedDeliveries(ctx.database, organizationId, after, limit)
}

/**
 * The body as an attempt would post it now; for webhooks of instances without codes to scan and without the bytes of files.
 */
export type ShownBody = ShownEvent | ReturnType<typeof presentGatewayCall>

/**
 * A delivery with its body; the body is null if the event is no longer stored or its contact was erased. Throws
 * delivery_not_found.
 */
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
  if (!endpoint || !instance) {
    const numbers = await findBusinessNumbers(ctx, organizationId)
    return { delivery, body: presentEvent(event, ctx.mediaLinks.urlOf, numbers, ctx.clock()) }
  }
  return { delivery, body: presentGatewayCall(ctx, { ...endpoint, instance }, event) }
}

/**
 * Raises webhook.test for one webhook, delivered under the given id. Throws webhook_disabled and webhook_not_found; the
 * latter also for webhooks of instances, whose format has no such event.
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
 * Delivers the event of a delivery again, under a new id. Throws delivery_not_found (also if nothing is left to send),
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

/** The delivery that an earlier attempt to replay or test stored under this id; null if it stored none. */
export function recoverDelivery(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  id: string,
): Promise<Delivery | null> {
  return findDelivery(ctx.database, organizationId, id)
}

/** Events by the time at which they happened, both ends included; `to` includes its whole millisecond. */
export interface EventRange {
  from: Date
  to: Date
}

/**
 * Delivers every event of the range that the webhook wants, including those delivered before. The first delivery gets
 * the given id. Returns their number. Throws webhook_not_found, webhook_disabled, too_many_requests (too many are
 * pending), and invalid_field for a range that is reversed or has too many events.
 */
export async function replayRange(
  ctx: ReplayContext,
  organizationId: string,
  webhookId: string,
  { id, from, to }: EventRange & { id: string },
): Promise<number> {
  if (to < from) throw new Problem('invalid_field', `to ${to.toISOString()} is before from ${from.toISOString()}`)
  await requireActiveWebhook(ctx, organizationId, webhookId)
  const endpoint = await findEndpoint(ctx.database, organizationId, webhookId)
  if (endpoint === null) throw webhookNotFound(webhookId)
  await requireReplayable(ctx, organizationId, webhookId)
  const seqs = await findWanted(ctx, organizationId, endpoint, { from, before: new Date(to.getTime() + 1) })
  if (seqs.length > MAX_REPLAYED) {
    throw new Problem(
      'invalid_field',
      `from and to hold more than ${MAX_REPLAYED} events, the most that are replayed at once: narrow the range`,
    )
  }
  const replays = seqs.map((seq, index) => ({ id: index === 0 ? id : newId(), seq }))
  const count = await insertReplays(ctx.database, organizationId, webhookId, { events: replays, at: ctx.clock() })
  ctx.notifications.send({ topic: 'webhooks', organizationId })
  return count
}

/** The number of deliveries of an earlier attempt to replay under this id; null if it stored none. */
export async function recoverReplays(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  id: string,
): Promise<number | null> {
  const count = await countReplays(ctx.database, organizationId, id)
  return count === 0 ? null : count
}

/** Deletes the deliveries of a deleted webhook, as a job that runs again for each batch, and after a legal hold. */
export async function sweepWebhook(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  webhookId: string,
): Promise<Again | null> {
  const swept = await ctx.database.transaction(async (transaction) =>
    (await lockLegalHold(transaction, organizationId)) === null
      ? sweepDeliveries(transaction, organizationId, webhookId, SWEEP_BATCH)
      : null,
  )
  if (swept === null) return { againInMs: AFTER_HOLD_MS }
  return swept === SWEEP_BATCH ? { againInMs: 0 } : null
}

/** The events of a range that a webhook wants; one more than the maximum shows that there are too many. */
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

/** For an instance, the kind alone does not say whether its webhook wants an event. */
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
