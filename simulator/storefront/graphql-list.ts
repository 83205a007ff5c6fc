import type { JsonObject } from '../../src/lib/text/json.js'
import { GraphqlError } from './graphql-document.js'
import { graphqlOrder } from './graphql-order.js'
import type { ShopOrder } from './order.js'
import {
  comparePositions,
  isPosition,
  type OrderMoment,
  type OrderPosition,
  orderMoments,
  positionOf,
  readCursor,
  writeCursor,
} from './order-list.js'

const maxPageSize = 250
const argNames = ['first', 'after', 'query', 'sortKey', 'reverse']
/**
 * `updated_at:>=2026-01-01`, with or without quotes around the time; several conditions are joined by a space or AND.
 */
const condition = /(?<moment>\w+):(?<operator>>=|<=|>|<)(?:'(?<single>[^']*)'|"(?<double>[^"]*)"|(?<bare>[^\s'"]+))/g

type Filter = (order: ShopOrder) => boolean

/** The connection `orders`: a page of the orders that match `query`, oldest first unless `reverse` is set. */
export function listOrders(args: JsonObject, all: ShopOrder[]): JsonObject {
  const unexpected = Object.keys(args).find((name) => !argNames.includes(name))
  if (unexpected !== undefined) throw invalid(`Field 'orders' doesn't accept argument '${unexpected}'`)
  const { first, reverse = false } = args
  if (typeof first !== 'number' || !Number.isInteger(first) || first < 1 || first > maxPageSize) {
    throw invalid(`first must be a whole number from 1 to ${maxPageSize}`)
  }
  const moment = readSortKey(args.sortKey ?? 'PROCESSED_AT')
  const direction = reverse === true ? -1 : 1
  const after = readAfter(args.after ?? null)
  const position = (order: ShopOrder) => positionOf(order, moment)
  const compare = (a: OrderPosition, b: OrderPosition) => direction * comparePositions(a, b)
  const matching = all
    .filter(readFilter(args.query ?? ''))
    .sort((a, b) => compare(position(a), position(b)))
    .filter((order) => !after || compare(position(order), after) > 0)
  const edges = matching
    .slice(0, first)
    .map((order) => ({ cursor: writeCursor(position(order)), node: graphqlOrder(order) }))
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasNextPage: matching.length > edges.length,
      hasPreviousPage: after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}

function readSortKey(given: unknown): OrderMoment {
  const moment = orderMoments.find((name) => name.toUpperCase() === given)
  if (!moment) throw invalid(`sortKey must be one of ${orderMoments.join(', ').toUpperCase()}`)
  return moment
}

function readAfter(given: unknown): OrderPosition | null {
  if (given === null) return null
  const position = typeof given === 'string' ? readCursor(given) : null
  if (!isPosition(position)) throw invalid('Invalid cursor for current pagination sort.')
  return position
}

/**
 * The real storefront can filter by many fields. Filters other than times are refused, because they would match
 * everything here.
 */
function readFilter(query: unknown): Filter {
  const text = String(query)
  if (
    text
      .replaceAll(condition, ' ')
      .replaceAll(/\bAND\b/g, ' ')
      .trim() !== ''
  ) {
    throw invalid(`This simulator searches by moments only, and not by ${text}`)
  }
  const filters = Array.from(text.matchAll(condition), ({ groups = {} }) => filterBy(groups))
  return (order) => filters.every((fits) => fits(order))
}

function filterBy({ moment: given, operator, single, double, bare }: Partial<Record<string, string>>): Filter {
  const moment = orderMoments.find((name) => name === given)
  const limit = Date.parse(single ?? double ?? bare ?? '')
  if (!moment || Number.isNaN(limit)) throw invalid(`This simulator cannot search by ${given}`)
  return (order) => {
    const at = Date.parse(order[moment])
    if (operator === '>=') return at >= limit
    if (operator === '<=') return at <= limit
    return operator === '>' ? at > limit : at < limit
  }
}

function invalid(message: string): GraphqlError {
  return new GraphqlError('argumentLiteralsIncompatible', message)
}
