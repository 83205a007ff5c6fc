import { asObject, parseJsonObject } from '../../src/lib/json.js'
import type { ShopOrder } from './order.js'
import type { ShopOrders } from './orders.js'

const orderId = /^gid:\/\/shopify\/Order\/(\d+)$/
/** The one query that is answered: `order(id: $name)` or `order(id: "gid://…")`. */
const orderQuery = /\border\s*\(\s*id\s*:\s*(?:\$(?<variable>\w+)|"(?<literal>[^"]*)")\s*\)/

/**
 * Answers a body of the GraphQL API; null for one without a query. Of the language only as much is understood as asking for one
 * order takes: its fields are shown when their names stand in the query. `isLimited`: no points are left.
 */
export function answerQuery(body: string, orders: ShopOrders, isLimited: boolean): object | null {
  const { query, variables } = parseJsonObject(body) ?? {}
  if (typeof query !== 'string' || query === '') return null
  if (isLimited) return withCost({ errors: [error('THROTTLED', 'Throttled')] }, 0)
  return withCost(findOrder(query, asObject(variables), orders), 1_999)
}

function findOrder(query: string, variables: Record<string, unknown>, orders: ShopOrders): object {
  const asked = orderQuery.exec(query)
  if (!asked?.groups) return { errors: [error('undefinedField', 'This simulator knows the query order(id:) only')] }
  const { variable, literal } = asked.groups
  const given = variable === undefined ? literal : variables[variable]
  const id = orderId.exec(String(given))?.[1]
  if (id === undefined) return { errors: [error('INVALID_VARIABLE', `Invalid global id '${given}'`)] }
  const order = orders.find(Number(id))
  return { data: { order: order ? select(order, query.slice(asked.index + asked[0].length)) : null } }
}

function select(order: ShopOrder, selection: string): object {
  const fields = {
    id: order.admin_graphql_api_id,
    name: order.name,
    number: order.order_number,
    createdAt: order.created_at,
    cancelledAt: order.cancelled_at,
    displayFinancialStatus: order.financial_status.toUpperCase(),
    test: order.test,
    totalPriceSet: { shopMoney: { amount: order.total_price, currencyCode: order.currency } },
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => new RegExp(`\\b${name}\\b`).test(selection)))
}

function error(code: string, message: string): object {
  return { message, extensions: { code } }
}

function withCost(answer: object, currentlyAvailable: number): object {
  const throttleStatus = { maximumAvailable: 2_000, currentlyAvailable, restoreRate: 100 }
  return { ...answer, extensions: { cost: { requestedQueryCost: 1, throttleStatus } } }
}
