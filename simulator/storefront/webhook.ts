import { exchangeOnce } from '../../src/lib/http/exchange.js'
import { signShopBody } from '../callbacks/signing.js'
import { restOrder, type ShopOrder } from './order.js'

/** A webhook about an order. */
export interface ShopWebhook {
  url: string
  /** Signs the body. */
  secret: string
  /** For example `orders/create`. */
  topic: string
  /** The same in every repetition. */
  id: string
  order: ShopOrder
}

const timeoutMs = 5_000

/** Posts a webhook once; returns the HTTP status, or null without an answer within 5 s. */
export async function postWebhook({ url, secret, topic, id, order }: ShopWebhook): Promise<number | null> {
  const body = JSON.stringify(restOrder(order))
  try {
    const headers = {
      'content-type': 'application/json',
      'x-shopify-topic': topic,
      'x-shopify-hmac-sha256': signShopBody(secret, body),
      'x-shopify-shop-domain': 'simulator.example',
      'x-shopify-api-version': '2026-07',
      'x-shopify-webhook-id': id,
      'x-shopify-triggered-at': new Date().toISOString(),
    }
    const request = { method: 'POST', headers, body }
    return (await exchangeOnce(url, request, AbortSignal.timeout(timeoutMs))).statusCode
  } catch {
    return null
  }
}
