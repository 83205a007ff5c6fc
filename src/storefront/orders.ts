import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../lib/text/json.js'
import { readStatus } from './answer.js'
import { type Connection, makeCall } from './connection.js'
import { readErrors } from './graphql.js'
import type { ListOrdersOutcome, OrderCursor } from './outcome.js'
import { readGraphqlOrder, readRestOrder, type ShopOrder } from './shop-order.js'

/** A query may cost 1,000 points on the smallest plan, and an order costs up to 9. The answer stays below 1 MB. */
const PAGE_SIZE = 100

const VISIT = 'landingPage utmParameters { source campaign }'
const QUERY = `query ChangedOrders($first: Int!, $after: String, $query: String!) {
  orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {
    nodes {
      id name test createdAt processedAt updatedAt cancelledAt displayFinancialStatus
      email phone billingAddress { phone }
      totalPriceSet { shopMoney { amount currencyCode } }
      customerJourneySummary { firstVisit { ${VISIT} } lastVisit { ${VISIT} } }
    }
    pageInfo { hasNextPage endCursor }
  }
}`

const FIELDS = [
  'id',
  'name',
  'test',
  'created_at',
  'processed_at',
  'updated_at',
  'cancelled_at',
  'financial_status',
  'total_price',
  'currency',
  'landing_site',
  'phone',
  'email',
  'contact_email',
  'customer',
  'billing_address',
].join()

/** Lists a page of changed orders; see StorefrontClient. Throws connection errors. */
export async function listOrders(
  connection: Connection,
  since: Date,
  cursor: OrderCursor | null,
): Promise<ListOrdersOutcome> {
  if (cursor?.api === 'rest') return listByRest(connection, since, cursor)
  const listed = await listByGraphql(connection, since, cursor)
  if (listed !== null) return listed
  if (cursor === null) return listByRest(connection, since, null)
  return { outcome: 'unavailable', text: 'the shop has no GraphQL API any more' }
}

/** Null if the shop has no such API. */
async function listByGraphql(
  connection: Connection,
  since: Date,
  cursor: OrderCursor | null,
): Promise<ListOrdersOutcome | null> {
  const variables = { first: PAGE_SIZE, after: cursor?.place ?? null, query: `updated_at:>='${since.toISOString()}'` }
  const body = JSON.stringify({ query: QUERY, variables })
  const answer = await makeCall(connection, { method: 'POST', path: '/graphql.json', body })
  if (answer.status === 404) return null
  return readStatus(answer) ?? readGraphqlPage(asObject(answer.body))
}

/** Errors next to orders concern parts of them, such as visits that the token may not read. */
function readGraphqlPage(result: JsonObject): ListOrdersOutcome {
  const { orders } = asObject(result.data)
  if (!isJsonObject(orders)) {
    const text = 'the answer of the GraphQL API has neither orders nor an error'
    return readErrors(result) ?? { outcome: 'unavailable', text }
  }
  const { hasNextPage, endCursor } = asObject(orders.pageInfo)
  return toPage(orders.nodes, readGraphqlOrder, 'graphql', hasNextPage === true ? asText(endCursor) : null)
}

/** With a cursor only limit and fields may be given. */
async function listByRest(connection: Connection, since: Date, cursor: OrderCursor | null): Promise<ListOrdersOutcome> {
  const which: Record<string, string> = cursor
    ? { page_info: cursor.place }
    : { status: 'any', updated_at_min: since.toISOString(), order: 'updated_at asc' }
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), fields: FIELDS, ...which })
  const answer = await makeCall(connection, { method: 'GET', path: `/orders.json?${query}` })
  const failure = readStatus(answer)
  if (failure !== null) return failure
  const { orders } = asObject(answer.body)
  if (!Array.isArray(orders)) return { outcome: 'unavailable', text: 'the answer of the REST API has no orders' }
  return toPage(orders, readRestOrder, 'rest', readNextPage(answer.link))
}

/** Only the cursor is taken from the next page's address; its host is never called. */
function readNextPage(link: string | null): string | null {
  const next = /<([^>]*)>[^<]*\brel="?next\b/.exec(link ?? '')?.[1]
  return new URLSearchParams(next?.replace(/^[^?]*\??/, '')).get('page_info')
}

function toPage(
  nodes: unknown,
  read: (order: JsonObject) => ShopOrder | null,
  api: OrderCursor['api'],
  place: string | null,
): ListOrdersOutcome {
  const given = asObjects(nodes)
  const orders = given.map(read).filter((order) => order !== null)
  const next = place === null ? null : { api, place }
  return { outcome: 'listed', page: { orders, unreadable: given.length - orders.length, next } }
}
