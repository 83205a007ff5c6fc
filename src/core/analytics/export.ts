import type { Context } from '../../context.js'
import { writeCsv } from '../../lib/text/csv-write.js'
import type { DateRange } from '../../model/broadcasts/analytics.js'
import type { RangeRevenue } from '../../model/broadcasts/revenue.js'
import type { Organization } from '../../model/organizations/organization.js'
import { exportRecipients } from '../broadcasts/recipients-file.js'
import { readAnalytics, readBroadcastAnalytics } from './read.js'

type RangeAnalytics = Awaited<ReturnType<typeof readAnalytics>>
type BroadcastAnalytics = Awaited<ReturnType<typeof readBroadcastAnalytics>>

/** The tables of all campaigns of a range, with the columns of the analytics in their order. */
const RANGE_TABLES = {
  campaigns: table(
    (analytics: RangeAnalytics) =>
      analytics.campaignPerformance.map(({ revenue, ...campaign }) => ({ ...campaign, ...toColumns(revenue) })),
    ['broadcastId', 'name', 'templateName', 'createdAt', 'totalRecipients'],
    ['sent', 'delivered', 'read', 'failed', 'deliveryRate', 'readRate'],
    ['attributedRevenue', 'attributedOrders', 'campaignRevenue', 'campaignOrders', 'currency'],
  ),
  days: table((analytics: RangeAnalytics) => analytics.timeSeriesData, ['date', 'sent', 'delivered', 'read', 'failed']),
  templates: table(
    (analytics: RangeAnalytics) => analytics.templateAnalytics,
    ['templateName', 'usageCount'],
    ['sent', 'delivered', 'read', 'failed', 'deliveryRate', 'readRate'],
  ),
  errors: table(
    (analytics: RangeAnalytics) => analytics.errorAnalysis,
    ['errorCode', 'errorMessage', 'count', 'percentage'],
  ),
}

/** The tables of one broadcast; `recipients` is a separate table. */
const BROADCAST_TABLES = {
  orders: table(
    ({ revenue }: BroadcastAnalytics) => revenue.orders,
    ['orderName', 'totalPrice', 'currency', 'orderDate', 'financialStatus', 'utmCampaign', 'attributed'],
  ),
  buttons: table((analytics: BroadcastAnalytics) => analytics.allButtons, ['buttonText', 'clicks', 'conversionRate']),
}

export type RangeTable = keyof typeof RANGE_TABLES
export type BroadcastTable = keyof typeof BROADCAST_TABLES | 'recipients'

/** A table of the analytics of a range as a CSV file, as a stream. */
export async function exportRange(
  ctx: Pick<Context, 'database' | 'clock' | 'channelNames'>,
  organization: Organization,
  name: RangeTable,
  range: DateRange,
): Promise<AsyncGenerator<string>> {
  return RANGE_TABLES[name](await readAnalytics(ctx, organization, range))
}

/** A table of one broadcast as a CSV file, as a stream. Throws broadcast_not_found. */
export async function exportBroadcast(
  ctx: Pick<Context, 'database' | 'clock' | 'channelNames'>,
  organization: Organization,
  name: BroadcastTable,
  broadcastId: string,
): Promise<AsyncGenerator<string>> {
  if (name === 'recipients') return exportRecipients(ctx, organization, broadcastId, null)
  return BROADCAST_TABLES[name](await readBroadcastAnalytics(ctx, organization, broadcastId))
}

/** Both revenue figures, first the revenue attributed to this broadcast only. */
function toColumns({ attributed, totalRevenue, orderCount, currency }: RangeRevenue) {
  return {
    attributedRevenue: attributed.totalRevenue,
    attributedOrders: attributed.orderCount,
    campaignRevenue: totalRevenue,
    campaignOrders: orderCount,
    currency,
  }
}

/** Returns a function that writes a table of some analytics. */
function table<Analytics, Row extends object>(
  rowsOf: (analytics: Analytics) => readonly Row[],
  ...columns: (keyof Row & string)[][]
): (analytics: Analytics) => AsyncGenerator<string> {
  const header = columns.flat()
  return (analytics) => writeCsv(header, toCells(rowsOf(analytics), header))
}

async function* toCells<Row extends object>(
  rows: readonly Row[],
  columns: readonly (keyof Row)[],
): AsyncGenerator<string[]> {
  for (const row of rows) yield columns.map((column) => String(row[column] ?? ''))
}
