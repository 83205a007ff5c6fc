import { parseJsonObject } from '../../src/lib/text/json.js'
import type { ShopOrder } from './order.js'

/** The times by which orders are sorted and filtered. */
export const orderMoments = ['created_at', 'updated_at', 'processed_at'] as const

export type OrderMoment = (typeof orderMoments)[number]

/**
 * The position of an order in a list. A page starts after the position of the last order, so changes do not shift
 * pages.
 */
export interface OrderPosition {
  /** Milliseconds since the epoch. */
  at: number
  id: number
}

export function positionOf(order: ShopOrder, moment: OrderMoment): OrderPosition {
  return { at: Date.parse(order[moment]), id: order.id }
}

/** Negative if `a` comes before `b`, oldest first. */
export function comparePositions(a: OrderPosition, b: OrderPosition): number {
  return a.at - b.at || a.id - b.id
}

/** An opaque cursor for clients. */
export function writeCursor(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

/** The content of a cursor; null if it is invalid. */
export function readCursor(cursor: string): Record<string, unknown> | null {
  return parseJsonObject(Buffer.from(cursor, 'base64url').toString())
}

export function isPosition(value: unknown): value is OrderPosition {
  const { at, id } = (value ?? {}) as Partial<Record<string, unknown>>
  return typeof at === 'number' && typeof id === 'number'
}
