/** Spec 2.6, `revenue`, and what contract 4 adds. Money is a number with two decimals. */
export interface Revenue {
  totalRevenue: number
  /** The organization's; the totals are of orders in it alone. */
  currency: string
  orderCount: number
  avgOrderValue: number
  /** As the link has it; the first where there are several. */
  utmCampaign: string | null
  utmCampaigns: { campaign: string; orderCount: number; revenue: number; avgOrderValue: number }[]
  orders: {
    orderName: string
    totalPrice: number
    currency: string
    /** ISO 8601. */
    orderDate: string
    financialStatus: string | null
    /** As it stood in the landing page's address. */
    utmCampaign: string | null
    /** True if the order counts in `attributed`. */
    attributed: boolean
  }[]
  otherCurrencies: { currency: string; totalRevenue: number; orderCount: number }[]
  attributed: AttributedRevenue
}

/** What several campaigns earned, or one of them: by utm_campaign, each order once, and what is attributed to them. */
export interface RangeRevenue {
  totalRevenue: number
  orderCount: number
  avgOrderValue: number
  currency: string
  attributed: AttributedRevenue
}

/** What is attributed to one broadcast alone; each order counts for one at most. */
export interface AttributedRevenue {
  totalRevenue: number
  orderCount: number
  avgOrderValue: number
  /** The organization's; orders in others are left out. */
  currency: string
  /** For how many days after a click, or the message, an order is attributed to it. */
  window_days: number
}
