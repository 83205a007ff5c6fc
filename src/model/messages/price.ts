/** What the upstream says about the price of a message. Absence of a field says nothing, and never that it was free. */
export interface Price {
  billable: boolean | null
  /** `PMP`: per message. */
  model: string | null
  /** Such as `regular`, `free_customer_service`, `free_entry_point`. */
  type: string | null
  /** Such as `marketing`, `utility`, `authentication_international`. */
  category: string | null
  /** Of the recipient, ISO 3166. */
  country: string | null
}
