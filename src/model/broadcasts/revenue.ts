/** The revenue of a broadcast. Money is a number with two decimals. */
export interface Revenue {
  totalRevenue: number
  /** The organization's currency; the totals count only orders in it. */
  currency: string
  orderCount: number
  avgOrderValue: number
  /** As in the link; the first one if there are several. */
  utmCampaign: string | null
  utmCampaigns: { campaign: string; orderCount: number; revenue: number; avgOrderValue: number }[]
  orders: {
    orderName: string
    totalPrice: number
    currency: string
    /** ISO 8601. */
    orderDate: string
    financialStatus: string | null
    /** As in the URL of the landing page. */
    utmCampaign: string | null
    /** True if the order counts in `attributed`. */
    attributed: boolean
  }[]
  otherCurrencies: { currency: string; totalRevenue: number; orderCount: number }[]
  attributed: AttributedRevenue
}

/** The revenue of several campaigns, or of one: by utm_campaign, each order once, and the part attributed to them. */
export interface RangeRevenue {
  totalRevenue: number
  orderCount: number
  avgOrderValue: number
  currency: string
  attributed: AttributedRevenue
}

/** The revenue attributed to one broadcast; each order counts for at most one. */
export interface AttributedRevenue {
  totalRevenue: number
  orderCount: number
  avgOrderValue: number
  /** The organization's currency; orders in others are left out. */
  currency: string
  /** For how many days after a click or a message an order is attributed to it. */
  window_days: number
}
