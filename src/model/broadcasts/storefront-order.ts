/** An order of an organization's storefront, as its row is stored; money is decimal text, never a float. */
export interface StorefrontOrder {
  /** The storefront's id. */
  id: string
  /** The name that people see: `#1001`. */
  name: string
  total_price: string
  /** ISO 4217. */
  currency: string
  ordered_at: Date
  /** Lower case, such as `paid`; null if the storefront does not say. */
  financial_status: string | null
  /** Normalized (model/broadcasts/utm). */
  utm_source: string | null
  /** As in the URL of the landing page. */
  utm_campaign: string | null
  /** The buyer's contact, if known. */
  contact_id: string | null
  is_test: boolean
  cancelled_at: Date | null
  /** The storefront's time; later data wins. */
  updated_at: Date
}
