import type { Context } from '../../context.js'
import { createSemaphore } from '../../lib/async/semaphore.js'
import { equalInConstantTime, hmacSha256Base64 } from '../../lib/crypto/signature.js'
import { type JsonObject, parseJsonObject } from '../../lib/text/json.js'
import { Problem } from '../../model/problem.js'
import { findInDirectory } from '../../storage/organizations/directory.js'
import { findOrganization, findStorefrontSettings } from '../../storage/organizations/organizations.js'
import { cancelStorefrontOrder } from '../../storage/storefront/orders.js'
import { readOrderId, readRestOrder } from '../../storefront/client.js'
import { refuseSuspended } from '../organizations/suspension.js'
import { recordOrders } from './record.js'

/** A webhook of a storefront with its headers. */
export interface OrderWebhook {
  body: Buffer
  /** X-Shopify-Hmac-SHA256: 32 bytes in base64. */
  signature: string
  /** X-Shopify-Topic, such as `orders/paid`. */
  topic: string | undefined
  /** X-Shopify-Webhook-Id; a repeated webhook has the same id. */
  id: string | undefined
}

/** Webhooks of this topic contain only the order's id. */
const DELETED = 'orders/delete'
const MAX_ID_LENGTH = 255
/** Used if there is no secret, so that an unknown slug takes as long to answer as a wrong signature. */
const DUMMY_SECRET = 'dummy'

/** How many look-ups run at once: requests without a valid signature must not use up the connection pool. */
const MAX_LOOKUPS = 4

/** Receives a webhook for the organization with the slug. */
export type OrderReceiver = (slug: string, webhook: OrderWebhook) => Promise<void>

/**
 * Creates the order receiver of this process. It records the order of a webhook once; deleted orders count as
 * cancelled. Webhooks with a valid signature are accepted regardless of their content, because the storefront repeats
 * refused ones and finally stops sending. Throws invalid_signature, also for unknown slugs, invalid_json, and
 * organization_suspended.
 */
export function createOrderReceiver(ctx: Context): OrderReceiver {
  const limited = createSemaphore(MAX_LOOKUPS)
  return async (slug, webhook) => {
    const organizationId = await limited(() => findSender(ctx, slug, webhook))
    await record(ctx, organizationId, webhook)
  }
}

async function record(ctx: Context, organizationId: string, webhook: OrderWebhook): Promise<void> {
  const body = parseJsonObject(webhook.body.toString('utf8'))
  if (body === null) throw new Problem('invalid_json', 'The webhook is not a JSON object')
  if (webhook.topic !== undefined && !webhook.topic.startsWith('orders/')) return

  const { topic, id: webhookId } = webhook
  const recordTopic = topic === DELETED ? recordDeletion : recordOrder
  if (await recordTopic(ctx, organizationId, body, webhookId)) return
  ctx.log.warn({ organizationId, topic, webhookId }, 'a webhook of a storefront contains no order')
}

/** Resolves to false if the webhook has no order. */
async function recordOrder(
  ctx: Context,
  organizationId: string,
  body: JsonObject,
  webhookId: string | undefined,
): Promise<boolean> {
  const order = readRestOrder(body)
  if (order === null) return false
  // If the webhook has no usable id, the order's update time makes a repetition harmless.
  const known = webhookId && webhookId.length <= MAX_ID_LENGTH ? webhookId : null
  await recordOrders(ctx, organizationId, [order], known)
  return true
}

/** Cancels a deleted order; an unknown one is ignored. */
async function recordDeletion(ctx: Context, organizationId: string, { id }: JsonObject): Promise<boolean> {
  const orderId = readOrderId(String(id))
  if (orderId === null) return false
  await cancelStorefrontOrder(ctx.database, organizationId, orderId, ctx.clock())
  return true
}

async function findSender(ctx: Context, slug: string, { body, signature }: OrderWebhook): Promise<string> {
  const organizationId = await findInDirectory(ctx.database, 'slug', slug)
  const secret = organizationId === null ? null : await findSecret(ctx, organizationId)
  const isSigned = equalInConstantTime(signature, hmacSha256Base64(secret ?? DUMMY_SECRET, body))
  if (organizationId !== null && secret !== null && isSigned) {
    await requireWorking(ctx, organizationId)
    return organizationId
  }
  throw new Problem(
    'invalid_signature',
    "X-Shopify-Hmac-SHA256 does not match the body and the storefront's webhook secret",
  )
}

/** The shop repeats a refused webhook. */
async function requireWorking(ctx: Context, organizationId: string): Promise<void> {
  const organization = await findOrganization(ctx.database, organizationId)
  if (organization) refuseSuspended(organization)
}

async function findSecret(ctx: Context, organizationId: string): Promise<string | null> {
  const settings = await findStorefrontSettings(ctx.database, organizationId)
  return settings && ctx.secrets.open(settings.webhook_secret, `${organizationId}:storefront.webhook_secret`)
}
