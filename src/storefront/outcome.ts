import type { ShopOrder } from './shop-order.js'

/** How an order is named to people. */
export interface OrderReference {
  /** The integer, as text: `1001`. */
  number: string | null
  /** With the shop's prefix and suffix: `#1001`. */
  name: string | null
}

/** Why a shop did not tell what it was asked for. `text` is for people and never holds the token. */
export type Failure =
  | { outcome: 'credentials_rejected'; text: string }
  | { outcome: 'limited'; retryAfterMs: number }
  | { outcome: 'unavailable'; text: string }

/** What became of a look-up. */
export type FindOrderOutcome = { outcome: 'found'; order: OrderReference } | { outcome: 'not_found' } | Failure

/** What became of asking for a page of orders. */
export type ListOrdersOutcome = { outcome: 'listed'; page: OrderPage } | Failure

/** What became of asking whether orders can be read. */
export type CheckOrdersOutcome = { outcome: 'readable' } | Failure

/** Orders in the order in which they were changed, as far as the shop keeps to that. */
export interface OrderPage {
  orders: ShopOrder[]
  /** How many more the page held that could not be read. */
  unreadable: number
  /** Where the next page begins; null = this is the last one. */
  next: OrderCursor | null
}

/** A place in a list of orders, good only for asking for the next page of the same list. */
export interface OrderCursor {
  api: 'graphql' | 'rest'
  place: string
}

/** How long to wait where a shop that is asked too often does not say how long. */
export const DEFAULT_WAIT_MS = 2_000
