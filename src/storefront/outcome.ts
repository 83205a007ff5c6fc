import type { ShopOrder } from './shop-order.js'

/** An order's names for users. */
export interface OrderReference {
  /** The integer, as text: `1001`. */
  number: string | null
  /** With the shop's prefix and suffix: `#1001`. */
  name: string | null
}

/** Why a shop gave no answer. `text` is for users and never contains the token. */
export type Failure =
  | { outcome: 'credentials_rejected'; text: string }
  | { outcome: 'limited'; retryAfterMs: number }
  | { outcome: 'unavailable'; text: string }

export type FindOrderOutcome = { outcome: 'found'; order: OrderReference } | { outcome: 'not_found' } | Failure

export type ListOrdersOutcome = { outcome: 'listed'; page: OrderPage } | Failure

export type CheckOrdersOutcome = { outcome: 'readable' } | Failure

/** Orders by the time of their change, as far as the shop keeps that order. */
export interface OrderPage {
  orders: ShopOrder[]
  /** The number of unreadable orders on the page. */
  unreadable: number
  /** Where the next page begins; null = this is the last one. */
  next: OrderCursor | null
}

/** A position in a list; only valid for the next page of the same list. */
export interface OrderCursor {
  api: 'graphql' | 'rest'
  place: string
}

/** The wait if a shop limits the rate without giving a time. */
export const DEFAULT_WAIT_MS = 2_000
