import { parseJsonObject } from '../../src/lib/text/json.js'
import type { ShopOrder } from './order.js'

/** The moments by which orders are sorted and narrowed. */
export const orderMoments = ['created_at', 'updated_at', 'processed_at'] as const

export type OrderMoment = (typeof orderMoments)[number]

/** Where an order stands in a list. A page begins after the place of the last one, so that changes shift no page. */
export interface OrderPosition {
  /** Milliseconds since the epoch. */
  at: number
  id: number
}

export function positionOf(order: ShopOrder, moment: OrderMoment): OrderPosition {
  return { at: Date.parse(order[moment]), id: order.id }
}

/** Below 0 where `a` comes before `b`, oldest first. */
export function comparePositions(a: OrderPosition, b: OrderPosition): number {
  return a.at - b.at || a.id - b.id
}

/** What a client hands back unread. */
export function writeCursor(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

/** What a cursor holds, or null for what is none. */
export function readCursor(cursor: string): Record<string, unknown> | null {
  return parseJsonObject(Buffer.from(cursor, 'base64url').toString())
}

export function isPosition(value: unknown): value is OrderPosition {
  const { at, id } = (value ?? {}) as Partial<Record<string, unknown>>
  return typeof at === 'number' && typeof id === 'number'
}
