import { hmacSha256Base64 } from '../../src/lib/crypto/signature.js'
import type { Answer, TestOrganization, World } from './world.js'

/** The secret that signs webhooks of storefronts in tests. */
export const WEBHOOK_SECRET = 'webhook-secret-of-the-test'

let orders = 5_000_000_000

/** An order as in a webhook; `fields` replace or add fields. */
export function shopOrder(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const id = ++orders
  return {
    id,
    admin_graphql_api_id: `gid://shopify/Order/${id}`,
    name: `#${id}`,
    total_price: '100.00',
    currency: 'BRL',
    financial_status: 'paid',
    landing_site: null,
    test: false,
    created_at: '2026-03-01T10:00:00-03:00',
    processed_at: '2026-03-01T10:00:00-03:00',
    updated_at: '2026-03-01T10:00:00-03:00',
    cancelled_at: null,
    ...fields,
  }
}

/** Connects a storefront to an organization; without a URL, one that does not respond. */
export async function connectStorefront(
  world: World,
  { id }: TestOrganization,
  { url = 'http://127.0.0.1:9', secret = WEBHOOK_SECRET } = {},
): Promise<void> {
  const body = { url, access_token: 'shpat_test', webhook_secret: secret }
  const answer = await world.admin('PUT', `/organizations/${id}/storefront`, body)
  if (answer.status !== 200) throw new Error(`storefront: ${JSON.stringify(answer.body)}`)
}

/** Posts a body to the webhook of an organization; by default signed with the secret of the tests. */
export function postWebhook(
  world: World,
  slug: string,
  body: string,
  { secret = WEBHOOK_SECRET, headers = {} }: { secret?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return world.request('POST', `/hooks/storefront/${slug}`, {
    body,
    headers: {
      'x-shopify-topic': 'orders/updated',
      'x-shopify-hmac-sha256': hmacSha256Base64(secret, body),
      ...headers,
    },
  })
}

/** Posts one webhook per order of an organization's storefront. Throws if one is refused. */
export async function postOrders(
  world: World,
  { slug }: TestOrganization,
  ...orders: Record<string, unknown>[]
): Promise<void> {
  for (const order of orders) {
    const answer = await postWebhook(world, slug, JSON.stringify(shopOrder(order)))
    if (answer.status !== 200) throw new Error(`webhook: ${JSON.stringify(answer.body)}`)
  }
}

/** The recorded orders of an organization, by id. */
export async function ordersOf(world: World, { id }: TestOrganization) {
  const { rows } = await world.database.pool.query(
    `SELECT id, name, total_price, currency, ordered_at, financial_status, utm_source, utm_campaign, campaign, is_test,
       cancelled_at, updated_at
     FROM storefront_orders WHERE organization_id = $1 ORDER BY id`,
    [id],
  )
  return rows
}
