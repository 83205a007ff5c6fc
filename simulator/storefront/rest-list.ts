import { asObject } from '../../src/lib/text/json.js'
import type { ShopOrder } from './order.js'
import {
  comparePositions,
  isPosition,
  type OrderPosition,
  orderMoments,
  positionOf,
  readCursor,
  writeCursor,
} from './order-list.js'

export type ListQuery = Partial<Record<string, string | string[]>>

/** A page of orders with the queries of the neighbouring pages, or the errors of a 400 response. */
export type OrderPage =
  | { orders: ShopOrder[]; beside: Array<{ rel: 'previous' | 'next'; query: string }> }
  | { errors: string | object }

/** For example `updated_at asc`. */
const sorting = new RegExp(`^(?<moment>${orderMoments.join('|')}) (?<direction>asc|desc)$`, 'i')
const statuses = ['any', 'open', 'closed', 'cancelled']
const bounds = orderMoments.flatMap((moment) => [`${moment}_min`, `${moment}_max`])
/** The parameters allowed with `page_info`, which contains all others. */
const allowedWithPageInfo = ['limit', 'fields', 'page_info']

const defaultLimit = 50
const maxLimit = 250

interface ListOptions {
  filters: Record<string, string>
  limit: number
  /** The page ends before, or starts after, this position. */
  before: OrderPosition | null
  after: OrderPosition | null
}

/** Lists orders as the REST API does: open ones unless `status` is given, newest first unless `order` is given. */
export function listOrders(all: ShopOrder[], query: ListQuery): OrderPage {
  const options = readQuery(query)
  if ('errors' in options) return options
  const { filters, limit, before, after } = options
  const { position, compare } = sortingBy(filters.order)
  const matching = all
    .filter((order) => matches(order, filters))
    .sort((a, b) => compare(position(a), position(b)))
    .filter((order) => !after || compare(position(order), after) > 0)
    .filter((order) => !before || compare(position(order), before) < 0)
  const orders = before ? matching.slice(-limit) : matching.slice(0, limit)
  const hasMore = matching.length > orders.length
  const [first, last] = [orders[0], orders.at(-1)]
  const beside = (rel: 'previous' | 'next', content: object) => ({
    rel,
    query: pageQuery(query, { filters, ...content }),
  })
  return {
    orders,
    beside: [
      ...(first && (after || (before && hasMore)) ? [beside('previous', { before: position(first) })] : []),
      ...(last && (before || hasMore) ? [beside('next', { after: position(last) })] : []),
    ],
  }
}

interface Sorting {
  position(order: ShopOrder): OrderPosition
  compare(a: OrderPosition, b: OrderPosition): number
}

function sortingBy(order = 'created_at desc'): Sorting {
  const { moment = '', direction = '' } = sorting.exec(order)?.groups ?? {}
  const by = orderMoments.find((name) => name === moment.toLowerCase()) ?? 'created_at'
  const sign = direction.toLowerCase() === 'asc' ? 1 : -1
  return { position: (one) => positionOf(one, by), compare: (a, b) => sign * comparePositions(a, b) }
}

function readQuery(query: ListQuery): ListOptions | { errors: string | object } {
  const { limit = String(defaultLimit), page_info: pageInfo } = query
  if (typeof limit !== 'string' || !/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxLimit) {
    return { errors: { limit: `must be a number from 1 to ${maxLimit}` } }
  }
  if (pageInfo !== undefined) return readPageInfo(query, pageInfo, Number(limit))
  const filters: Record<string, string> = {}
  for (const name of ['status', 'order', ...bounds]) {
    const value = query[name]
    if (value === undefined) continue
    if (typeof value !== 'string' || !fits(name, value)) return { errors: { [name]: 'is invalid' } }
    filters[name] = value
  }
  return { filters, limit: Number(limit), before: null, after: null }
}

function readPageInfo(
  query: ListQuery,
  pageInfo: string | string[],
  limit: number,
): ListOptions | { errors: string | object } {
  const unexpected = Object.keys(query).find((name) => !allowedWithPageInfo.includes(name))
  if (unexpected !== undefined) return { errors: `${unexpected} cannot be passed when page_info is provided` }
  const content = typeof pageInfo === 'string' ? readCursor(pageInfo) : null
  const { filters, before = null, after = null } = content ?? {}
  if (!isPosition(before ?? after)) return { errors: { page_info: 'Invalid value.' } }
  return {
    filters: asObject(filters) as Record<string, string>,
    limit,
    before: isPosition(before) ? before : null,
    after: isPosition(after) ? after : null,
  }
}

function fits(name: string, value: string): boolean {
  if (name === 'status') return statuses.includes(value)
  return name === 'order' ? sorting.test(value) : !Number.isNaN(Date.parse(value))
}

function matches(order: ShopOrder, filters: Record<string, string>): boolean {
  if (!hasStatus(order, filters.status ?? 'open')) return false
  return orderMoments.every((moment) => {
    const at = Date.parse(order[moment])
    const { [`${moment}_min`]: min, [`${moment}_max`]: max } = filters
    return (min === undefined || at >= Date.parse(min)) && (max === undefined || at <= Date.parse(max))
  })
}

function hasStatus({ cancelled_at: cancelledAt, closed_at: closedAt }: ShopOrder, status: string): boolean {
  if (status === 'cancelled') return cancelledAt !== null
  if (status === 'closed') return closedAt !== null
  return status === 'any' || (cancelledAt === null && closedAt === null)
}

function pageQuery({ limit, fields }: ListQuery, content: object): string {
  const query = new URLSearchParams()
  if (typeof limit === 'string') query.set('limit', limit)
  if (typeof fields === 'string') query.set('fields', fields)
  query.set('page_info', writeCursor(content))
  return query.toString()
}
