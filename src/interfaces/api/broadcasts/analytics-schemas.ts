import { Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import { Nullable } from '../../../model/fields.js'

const Count = Type.Integer({ minimum: 0 })
const Percent = Type.Number({ minimum: 0, description: 'Percent, two decimals; 0 when the denominator is 0' })
const Money = Type.Number({ description: 'Two decimals' })
const DateTime = Type.String({ format: 'date-time' })

const AttributedRevenue = named(
  'AttributedRevenue',
  Type.Object(
    {
      totalRevenue: Money,
      orderCount: Count,
      avgOrderValue: Money,
      currency: Type.String(),
      window_days: Type.Integer({
        description: 'How many days after a click, or after the message, an order still counts',
      }),
    },
    {
      description:
        'Revenue of orders that count for this broadcast alone: an order counts for at most one broadcast or send-template',
    },
  ),
)

export const BroadcastAnalyticsSchema = named(
  'BroadcastAnalytics',
  Type.Object({
    broadcastInfo: Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      templateName: Type.String(),
      createdAt: DateTime,
      totalRecipients: Count,
    }),
    deliveryStats: Type.Object({
      sent: Count,
      delivered: Count,
      read: Count,
      failed: Count,
      deliveryRate: Percent,
      readRate: Percent,
    }),
    conversionFunnel: Type.Object({
      sent: Count,
      delivered: Count,
      read: Count,
      buttonClicked: Count,
      optedOut: Count,
    }),
    buttonAnalytics: Nullable(
      Type.Object(
        { quickReplyButton: Type.String(), quickReplyClicks: Count, quickReplyConversionRate: Percent },
        { description: 'The first quick-reply button. Null if the template has none.' },
      ),
    ),
    allButtons: Type.Array(Type.Object({ buttonText: Type.String(), clicks: Count, conversionRate: Percent })),
    totalButtonClicks: Count,
    optOutAnalytics: Type.Object({ totalOptOuts: Count, optOutRate: Percent }),
    revenue: Type.Object({
      totalRevenue: Money,
      currency: Type.String(),
      orderCount: Count,
      avgOrderValue: Money,
      utmCampaign: Nullable(Type.String()),
      utmCampaigns: Type.Array(
        Type.Object({ campaign: Type.String(), orderCount: Count, revenue: Money, avgOrderValue: Money }),
      ),
      orders: Type.Array(
        Type.Object({
          orderName: Type.String(),
          totalPrice: Money,
          currency: Type.String(),
          orderDate: DateTime,
          financialStatus: Nullable(Type.String()),
          utmCampaign: Type.String(),
          attributed: Type.Boolean({ description: 'True if the order counts in `attributed`' }),
        }),
        { description: 'The newest 1,000 orders' },
      ),
      otherCurrencies: Type.Array(Type.Object({ currency: Type.String(), totalRevenue: Money, orderCount: Count }), {
        description: "Orders in currencies other than the organization's. The totals do not include them.",
      }),
      attributed: AttributedRevenue,
    }),
  }),
)

const RangeRevenue = named(
  'RangeRevenue',
  Type.Object({
    totalRevenue: Type.Number({
      description: 'All orders of the campaigns, each counted once, whenever they were placed',
    }),
    orderCount: Count,
    avgOrderValue: Money,
    currency: Type.String(),
    attributed: AttributedRevenue,
  }),
)

const delivery = { sent: Count, delivered: Count, read: Count, failed: Count }
const rates = { deliveryRate: Percent, readRate: Percent }

export const RangeAnalyticsSchema = named(
  'RangeAnalytics',
  Type.Object({
    overallStats: Type.Object({
      totalCampaigns: Count,
      totalRecipients: Count,
      ...delivery,
      ...rates,
      failureRate: Percent,
      totalBroadcasts: Type.Integer({ minimum: 0, description: 'Number of campaigns that are broadcasts' }),
      revenue: RangeRevenue,
    }),
    campaignPerformance: Type.Array(
      Type.Object({
        broadcastId: Nullable(
          Type.String({
            format: 'uuid',
            description: 'Null for the send-templates of one template and day, which count as one campaign',
          }),
        ),
        name: Type.String({ description: 'The name of the broadcast, or of the template for send-templates' }),
        templateName: Type.String(),
        createdAt: DateTime,
        totalRecipients: Count,
        ...delivery,
        ...rates,
        revenue: RangeRevenue,
      }),
      { description: 'Newest first' },
    ),
    timeSeriesData: Type.Array(Type.Object({ date: Type.String(), ...delivery }), {
      description: 'One item for each day of the range',
    }),
    templateAnalytics: Type.Array(
      Type.Object({
        templateName: Type.String(),
        usageCount: Type.Integer({ minimum: 0, description: 'Campaigns' }),
        ...delivery,
        ...rates,
      }),
      { description: 'Most used first' },
    ),
    errorAnalysis: Type.Array(
      Type.Object({
        errorCode: Type.Union([Type.Number(), Type.String()]),
        errorMessage: Type.String(),
        count: Count,
        percentage: Type.Number({ minimum: 0, description: 'Share of all failures' }),
      }),
      { description: 'Most frequent first' },
    ),
  }),
)
