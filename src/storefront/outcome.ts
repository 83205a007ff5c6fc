/** How an order is named to people. */
export interface OrderReference {
  /** The integer, as text: `1001`. */
  number: string | null
  /** With the shop's prefix and suffix: `#1001`. */
  name: string | null
}

/** What became of a look-up. `text` is for people and never holds the token. */
export type FindOrderOutcome =
  | { outcome: 'found'; order: OrderReference }
  | { outcome: 'not_found' }
  | { outcome: 'credentials_rejected'; text: string }
  | { outcome: 'limited'; retryAfterMs: number }
  | { outcome: 'unavailable'; text: string }

/** How long to wait where a shop that is asked too often does not say how long. */
export const DEFAULT_WAIT_MS = 2_000
