import type { FastifyInstance } from 'fastify'
import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import type { Context } from '../context.js'
import { type Answer, withBody } from '../control/answer.js'
import { invalidField, isProblem, missingField, type Problem, problem } from '../control/problems.js'
import { isHttpUrl } from '../numbers/business-numbers.js'
import { readShopOrder, type ShopOrder } from './order.js'
import type { ShopOrders } from './orders.js'
import { postWebhook, type ShopWebhook } from './webhook.js'

const defaultTopic = 'orders/create'

/** The control endpoints that create orders in the storefront and send its webhooks. */
export function storefrontControl(app: FastifyInstance, { orders }: Context): void {
  app.get('/shop/orders', () => ({ success: true, orders: orders.all() }))
  app.post('/shop/orders', (request, reply) => withBody(request, reply, (body) => placeOrder(orders, body)))
  app.post('/shop/webhooks', (request, reply) => withBody(request, reply, (body) => sendWebhook(orders, body)))
}

function placeOrder(orders: ShopOrders, body: JsonObject): Answer {
  const order = readNewOrder(orders, body)
  if (isProblem(order)) return order
  orders.put(order)
  return { success: true, order }
}

async function sendWebhook(orders: ShopOrders, body: JsonObject): Promise<Answer> {
  const webhook = readWebhook(orders, body)
  if (isProblem(webhook)) return webhook
  const status = await postWebhook(webhook)
  return { success: status !== null && status >= 200 && status < 300, status }
}

function readWebhook(orders: ShopOrders, body: JsonObject): ShopWebhook | Problem {
  const { url, secret, topic = defaultTopic, webhook_id: id = crypto.randomUUID() } = body
  for (const [field, value] of Object.entries({ url, secret, topic, webhook_id: id })) {
    if (value === undefined) return missingField(field)
    if (typeof value !== 'string' || value === '') return invalidField(`${field} must be a string that is not empty`)
  }
  if (!isHttpUrl(String(url))) return invalidField(`url must be an http or https URL, but is ${url}`)
  const order = readReportedOrder(orders, body.order)
  if (isProblem(order)) return order
  return { url: String(url), secret: String(secret), topic: String(topic), id: String(id), order }
}

/** The shop's order with the given id, or an order given in full that the shop need not have. */
function readReportedOrder(orders: ShopOrders, given: unknown): ShopOrder | Problem {
  if (given === undefined) return missingField('order')
  if (isJsonObject(given)) return readNewOrder(orders, given)
  if (typeof given !== 'number') return invalidField('order must be an object or the id of an order')
  return (
    orders.find(given) ??
    problem(404, 'Order not found', `There is no order ${given}: POST /_sim/shop/orders creates one`)
  )
}

function readNewOrder(orders: ShopOrders, body: JsonObject): ShopOrder | Problem {
  const isChange = typeof body.id === 'number' && orders.find(body.id) !== undefined
  return readShopOrder(body, orders.next, isChange)
}
