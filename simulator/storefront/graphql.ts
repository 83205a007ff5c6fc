import { asObject, isJsonObject, type JsonObject, parseJsonObject } from '../../src/lib/text/json.js'
import type { Settings } from '../settings.js'
import { type Field, GraphqlError, parseQuery } from './graphql-document.js'
import { listOrders } from './graphql-list.js'
import { graphqlOrder } from './graphql-order.js'
import type { ShopOrders } from './orders.js'
import { isListRefused } from './throttle.js'

const orderId = /^gid:\/\/shopify\/Order\/(\d+)$/

type Resolver = (args: JsonObject, orders: ShopOrders) => JsonObject | null

/** The supported queries. */
const resolvers: Record<string, Resolver> = {
  order: findOrder,
  orders: (args, orders) => listOrders(args, orders.all()),
}

/** Answers a request body of the GraphQL API; null without a query. */
export function answerQuery(body: string, orders: ShopOrders, settings: Settings): object | null {
  const { query, variables } = parseJsonObject(body) ?? {}
  if (typeof query !== 'string' || query === '') return null
  try {
    const fields = parseQuery(query, asObject(variables))
    const isList = fields.some(({ name }) => name === 'orders')
    if (settings.shop_answers === 'limited' || (isList && isListRefused(settings))) {
      return withCost({ errors: [errorOf(new GraphqlError('THROTTLED', 'Throttled'))] }, 0)
    }
    return withCost({ data: resolve(fields, orders) }, 1_999)
  } catch (error) {
    if (!(error instanceof GraphqlError)) throw error
    return withCost({ errors: [errorOf(error)] }, 1_999)
  }
}

function resolve(fields: Field[], orders: ShopOrders): object {
  return Object.fromEntries(fields.map((field) => [field.name, resolveRoot(field, orders)]))
}

function resolveRoot(field: Field, orders: ShopOrders): unknown {
  const resolver = Object.hasOwn(resolvers, field.name) ? resolvers[field.name] : undefined
  if (!resolver) throw unknownField(field.name, 'the queries of this simulator')
  return select(resolver(field.args, orders), field)
}

function findOrder({ id: given }: JsonObject, orders: ShopOrders): JsonObject | null {
  const id = orderId.exec(String(given))?.[1]
  if (id === undefined) throw new GraphqlError('INVALID_VARIABLE', `Invalid global id '${given}'`)
  const order = orders.find(Number(id))
  return order ? graphqlOrder(order) : null
}

/** Selects the requested subfields of a value. */
function select(value: unknown, { name, fields }: Field): unknown {
  if (value === null) return null
  if (Array.isArray(value)) return value.map((item) => select(item, { name, args: {}, fields }))
  if (!isJsonObject(value)) {
    if (fields) throw new GraphqlError('selectionMismatch', `Field '${name}' has no fields of its own`)
    return value
  }
  if (!fields) throw new GraphqlError('selectionMismatch', `Field '${name}' must have a selection of subfields`)
  return Object.fromEntries(fields.map((field) => [field.name, select(fieldOf(value, field.name, name), field)]))
}

function fieldOf(value: JsonObject, name: string, parent: string): unknown {
  if (!Object.hasOwn(value, name)) throw unknownField(name, `'${parent}'`)
  return value[name]
}

function unknownField(name: string, parent: string): GraphqlError {
  return new GraphqlError('undefinedField', `Field '${name}' doesn't exist on ${parent}`)
}

function errorOf({ code, message }: GraphqlError): object {
  return { message, extensions: { code } }
}

function withCost(answer: object, currentlyAvailable: number): object {
  const throttleStatus = { maximumAvailable: 2_000, currentlyAvailable, restoreRate: 100 }
  return { ...answer, extensions: { cost: { requestedQueryCost: 1, throttleStatus } } }
}
