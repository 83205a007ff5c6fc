import type { JsonObject } from '../../src/lib/text/json.js'
import type { ShopOrder } from './order.js'

/** An order with all fields of the GraphQL API. */
export function graphqlOrder(order: ShopOrder): JsonObject {
  return {
    id: order.admin_graphql_api_id,
    legacyResourceId: String(order.id),
    name: order.name,
    number: order.order_number,
    test: order.test,
    cancelledAt: order.cancelled_at,
    createdAt: order.created_at,
    processedAt: order.processed_at,
    updatedAt: order.updated_at,
    displayFinancialStatus: order.financial_status.toUpperCase(),
    totalPriceSet: moneyOf(order.total_price, order.currency),
    currentTotalPriceSet: moneyOf(order.current_total_price, order.currency),
    email: order.email ?? order.contact_email ?? order.customer?.email ?? null,
    phone: order.phone ?? order.customer?.phone ?? null,
    billingAddress: order.billing_address ? { phone: order.billing_address.phone ?? null } : null,
    customerJourneySummary: journeyOf(order),
  }
}

function moneyOf(amount: string, currencyCode: string): JsonObject {
  return { shopMoney: { amount, currencyCode } }
}

/** The journey is empty until the shop has computed it. */
function journeyOf({ landing_site: landing, referring_site: referrer, journey = {} }: ShopOrder): JsonObject {
  const { ready = true, first_visit: first = landing, last_visit: last = landing } = journey
  if (!ready) return { ready, firstVisit: null, lastVisit: null }
  return { ready, firstVisit: visitOf(first, referrer), lastVisit: visitOf(last, referrer) }
}

function visitOf(landingPage: string | null, referrerUrl: string | null): JsonObject | null {
  if (landingPage === null) return null
  return { landingPage, referrerUrl, source: referrerUrl ?? 'direct', utmParameters: utmParametersOf(landingPage) }
}

function utmParametersOf(landingPage: string): JsonObject | null {
  // A landing page may be a path.
  if (!URL.canParse(landingPage, 'https://shop.example')) return null
  const { searchParams } = new URL(landingPage, 'https://shop.example')
  const names = ['source', 'medium', 'campaign', 'content', 'term']
  if (!names.some((name) => searchParams.has(`utm_${name}`))) return null
  return Object.fromEntries(names.map((name) => [name, searchParams.get(`utm_${name}`)]))
}
