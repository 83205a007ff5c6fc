/** An order of an organization's storefront, as its row is stored; money is decimal text, never a float. */
export interface StorefrontOrder {
  /** The storefront's. */
  id: string
  /** As people see it: `#1001`. */
  name: string
  total_price: string
  /** ISO 4217. */
  currency: string
  ordered_at: Date
  /** Lower case, such as `paid`; null where the storefront does not say. */
  financial_status: string | null
  /** Folded (model/broadcasts/utm). */
  utm_source: string | null
  /** As it stood in the landing page's address. */
  utm_campaign: string | null
  /** The buyer, where it is known which contact that is. */
  contact_id: string | null
  is_test: boolean
  cancelled_at: Date | null
  /** The storefront's: what it says later counts. */
  updated_at: Date
}
