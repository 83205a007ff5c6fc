import type { Context } from '../../context.js'
import { createSemaphore } from '../../lib/async/semaphore.js'
import { equalInConstantTime, hmacSha256Base64 } from '../../lib/crypto/signature.js'
import { type JsonObject, parseJsonObject } from '../../lib/text/json.js'
import { Problem } from '../../model/problem.js'
import { findInDirectory } from '../../storage/organizations/directory.js'
import { findStorefrontSettings } from '../../storage/organizations/organizations.js'
import { cancelStorefrontOrder } from '../../storage/storefront/orders.js'
import { readOrderId, readRestOrder } from '../../storefront/client.js'
import { recordOrders } from './record.js'

/** A webhook of a storefront with the headers that tell of it. */
export interface OrderWebhook {
  body: Buffer
  /** X-Shopify-Hmac-SHA256: 32 bytes in base64. */
  signature: string
  /** X-Shopify-Topic, such as `orders/paid`. */
  topic: string | undefined
  /** X-Shopify-Webhook-Id: the same when it is sent again. */
  id: string | undefined
}

/** The topic of webhooks that hold no more of an order than its id. */
const DELETED = 'orders/delete'
const MAX_ID_LENGTH = 255
/** What a webhook is held against where nobody has a secret, so that this takes as long as a wrong signature. */
const NO_SECRET = 'nobody'

/** So many senders are looked up at a time: strangers must not take the connections to the database. */
const LOOK_UPS = 4

/** Takes in the webhook of the organization with a slug. */
export type OrderReceiver = (slug: string, webhook: OrderWebhook) => Promise<void>

/**
 * Makes the receiver of a process, which records the order that a webhook tells of, once; one that was deleted is cancelled. What is
 * signed is taken whatever it holds: refused ones come again and again, until the storefront gives up telling of orders at all.
 * Throws invalid_signature, which does not tell who has a storefront here, and invalid_json.
 */
export function createOrderReceiver(ctx: Context): OrderReceiver {
  const reserveSendSlot = createSemaphore(LOOK_UPS)
  return async (slug, webhook) => {
    const organizationId = await reserveSendSlot(() => findSender(ctx, slug, webhook))
    await record(ctx, organizationId, webhook)
  }
}

async function record(ctx: Context, organizationId: string, webhook: OrderWebhook): Promise<void> {
  const body = parseJsonObject(webhook.body.toString('utf8'))
  if (body === null) throw new Problem('invalid_json', 'The webhook is not a JSON object')
  if (webhook.topic !== undefined && !webhook.topic.startsWith('orders/')) return

  const { topic, id: webhookId } = webhook
  const keep = topic === DELETED ? recordDeletion : recordOrder
  if (await keep(ctx, organizationId, body, webhookId)) return
  ctx.log.warn({ organizationId, topic, webhookId }, 'a webhook of a storefront holds no order')
}

/** False where the webhook holds no order. */
async function recordOrder(
  ctx: Context,
  organizationId: string,
  body: JsonObject,
  webhookId: string | undefined,
): Promise<boolean> {
  const order = readRestOrder(body)
  if (order === null) return false
  // The order's own time makes a repetition harmless where its id is none.
  const known = webhookId && webhookId.length <= MAX_ID_LENGTH ? webhookId : null
  await recordOrders(ctx, organizationId, [order], known)
  return true
}

/** The same of an order that is no more; one that is not known need not be. */
async function recordDeletion(ctx: Context, organizationId: string, { id }: JsonObject): Promise<boolean> {
  const orderId = readOrderId(String(id))
  if (orderId === null) return false
  await cancelStorefrontOrder(ctx.database, organizationId, orderId, ctx.clock())
  return true
}

async function findSender(ctx: Context, slug: string, { body, signature }: OrderWebhook): Promise<string> {
  const organizationId = await findInDirectory(ctx.database, 'slug', slug)
  const secret = organizationId === null ? null : await findSecret(ctx, organizationId)
  const isSigned = equalInConstantTime(signature, hmacSha256Base64(secret ?? NO_SECRET, body))
  if (organizationId !== null && secret !== null && isSigned) return organizationId
  throw new Problem(
    'invalid_signature',
    "X-Shopify-Hmac-SHA256 does not match the body and the storefront's webhook secret",
  )
}

async function findSecret(ctx: Context, organizationId: string): Promise<string | null> {
  const settings = await findStorefrontSettings(ctx.database, organizationId)
  return settings && ctx.secrets.open(settings.webhook_secret, `${organizationId}:storefront.webhook_secret`)
}
