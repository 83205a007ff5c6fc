import { isCalendarDate } from '../../lib/text/calendar.js'
import { excerpt } from '../../lib/text/text.js'
import { toIso } from '../contacts/contact.js'
import { Problem } from '../problem.js'
import { quickReplies, type Template } from '../templates/template.js'
import type { RangeRevenue } from './revenue.js'

/** Calendar dates (YYYY-MM-DD) in the organization's time zone, both inclusive. */
export interface DateRange {
  from: string
  to: string
}

/** The number of recipients by status. */
export interface DeliveryCounts {
  total: number
  sent: number
  delivered: number
  read: number
  failed: number
}

/** One broadcast with its figures; `clicks`: recipients by the text of the button that they pressed. */
export interface MeasuredBroadcast {
  id: string
  name: string
  template_name: string
  template: Template
  created_at: Date
  counts: DeliveryCounts & { clicked: number; opted_out: number }
  clicks: ReadonlyMap<string, number>
}

/** A unit of counting: a broadcast, or the one-off sends of one template on one day (`id` is null). */
export interface Campaign {
  id: string | null
  name: string
  template_name: string
  created_at: Date
  /** The day on which it counts, YYYY-MM-DD. */
  day: string
  counts: DeliveryCounts
  revenue: RangeRevenue
}

/** How many messages failed with an error; `code` is '' if the upstream named none. */
export interface ErrorCount {
  code: string
  text: string | null
  count: number
}

const LONGEST_RANGE_DAYS = 3_660
const DAY_MS = 86_400_000

/** The place of the range in the request, which decides the names of errors. */
type Source = 'query' | 'body'

/** The names of the start and the end of the range. */
type RangeNames = readonly [start: string, end: string]

const RANGE_NAMES: RangeNames = ['start_date', 'end_date']

/** Reads both ends of a range. Throws missing_parameter, and invalid_parameter (for a body: invalid_field). */
export function readDateRange(start: unknown, end: unknown, source: Source, names = RANGE_NAMES): DateRange {
  const from = readDate(names[0], start, source, names)
  const to = readDate(names[1], end, source, names)
  if (to < from) throw invalid(source, `${names[1]} ${to} is before ${names[0]} ${from}`)
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days <= LONGEST_RANGE_DAYS) return { from, to }
  throw invalid(source, `${names[0]} to ${names[1]} must be at most ${LONGEST_RANGE_DAYS} days, not ${days}`)
}

/** One broadcast's analytics, without the revenue. */
export function presentBroadcastAnalytics({ counts, clicks, ...broadcast }: MeasuredBroadcast) {
  const { total, sent, delivered, read, failed, clicked, opted_out } = counts
  // A recipient who pressed a button has the message, even if its delivery was never reported.
  const reached = delivered === 0 ? 0 : Math.max(delivered, clicked)
  const buttons = quickReplies(broadcast.template).map((buttonText) => {
    const pressed = clicks.get(buttonText) ?? 0
    return { buttonText, clicks: pressed, conversionRate: percentOf(pressed, reached) }
  })
  return {
    broadcastInfo: {
      id: broadcast.id,
      name: broadcast.name,
      templateName: broadcast.template_name,
      createdAt: toIso(broadcast.created_at),
      totalRecipients: total,
    },
    deliveryStats: { sent, delivered, read, failed, ...deliveryRates(counts) },
    conversionFunnel: { sent, delivered, read, buttonClicked: clicked, optedOut: opted_out },
    buttonAnalytics: presentFirstButton(buttons),
    allButtons: buttons,
    totalButtonClicks: buttons.reduce((sum, button) => sum + button.clicks, 0),
    optOutAnalytics: { totalOptOuts: opted_out, optOutRate: percentOf(opted_out, delivered) },
  }
}

/** The analytics of all campaigns of a range, which are given newest first. */
export function presentAnalytics(
  range: DateRange,
  campaigns: readonly Campaign[],
  errors: readonly ErrorCount[],
  revenue: RangeRevenue,
) {
  const all = sumCounts(campaigns)
  return {
    overallStats: {
      totalCampaigns: campaigns.length,
      totalRecipients: all.total,
      ...presentCounts(all),
      ...deliveryRates(all),
      failureRate: percentOf(all.failed, all.total),
      totalBroadcasts: campaigns.filter(({ id }) => id !== null).length,
      revenue,
    },
    campaignPerformance: campaigns.map(presentCampaign),
    timeSeriesData: presentDays(range, campaigns),
    templateAnalytics: presentTemplates(campaigns),
    errorAnalysis: presentErrors(errors, all.failed),
  }
}

/** A share in percent with two decimals, rounded half up; 0 if the whole is 0. */
export function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part * 10_000) / whole) / 100
}

function readDate(name: string, given: unknown, source: Source, [start, end]: RangeNames): string {
  if (given === undefined || given === '') {
    throw new Problem('missing_parameter', `${name} is required: give ${start} and ${end}, or broadcast_id`)
  }
  if (typeof given === 'string' && isDate(given)) return given
  const shown = typeof given === 'string' ? `, not "${excerpt(given)}"` : ''
  throw invalid(source, `${name} must be a date such as 2026-01-31${shown}`)
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && text >= '0001' && isCalendarDate(text)
}

function invalid(source: Source, message: string): Problem {
  return new Problem(source === 'query' ? 'invalid_parameter' : 'invalid_field', message)
}

function presentFirstButton([first]: { buttonText: string; clicks: number; conversionRate: number }[]) {
  if (!first) return null
  return {
    quickReplyButton: first.buttonText,
    quickReplyClicks: first.clicks,
    quickReplyConversionRate: first.conversionRate,
  }
}

function presentCampaign({ id, name, template_name, created_at, counts, revenue }: Campaign) {
  return {
    broadcastId: id,
    name,
    templateName: template_name,
    createdAt: toIso(created_at),
    totalRecipients: counts.total,
    ...presentCounts(counts),
    ...deliveryRates(counts),
    revenue,
  }
}

function presentDays(range: DateRange, campaigns: readonly Campaign[]) {
  const byDay = groupBy(campaigns, ({ day }) => day)
  return daysOf(range).map((date) => ({ date, ...presentCounts(sumCounts(byDay.get(date) ?? [])) }))
}

/** Calendar dates are counted in UTC, where every day has 24 hours. */
function daysOf({ from, to }: DateRange): string[] {
  const days: string[] = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) days.push(new Date(at).toISOString().slice(0, 10))
  return days
}

function presentTemplates(campaigns: readonly Campaign[]) {
  const byTemplate = groupBy(campaigns, ({ template_name }) => template_name)
  const templates = Array.from(byTemplate, ([templateName, used]) => {
    const counts = sumCounts(used)
    return { templateName, usageCount: used.length, ...presentCounts(counts), ...deliveryRates(counts) }
  })
  return templates.sort((a, b) => b.usageCount - a.usageCount || compare(a.templateName, b.templateName))
}

function presentErrors(errors: readonly ErrorCount[], failed: number) {
  return errors
    .toSorted((a, b) => b.count - a.count || compare(a.code, b.code))
    .map(({ code, text, count }) => ({
      errorCode: presentCode(code),
      errorMessage: text ?? (code || UNNAMED_ERROR),
      count,
      percentage: percentOf(count, failed),
    }))
}

const UNNAMED_ERROR = 'unknown'

/** The upstream's codes are numbers; Parley's are words. */
function presentCode(code: string): number | string {
  return /^\d{1,15}$/.test(code) ? Number(code) : code || UNNAMED_ERROR
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

function presentCounts({ sent, delivered, read, failed }: DeliveryCounts) {
  return { sent, delivered, read, failed }
}

function deliveryRates({ sent, delivered, read }: DeliveryCounts) {
  return { deliveryRate: percentOf(delivered, sent), readRate: percentOf(read, delivered) }
}

function sumCounts(campaigns: readonly Campaign[]): DeliveryCounts {
  const sum = { total: 0, sent: 0, delivered: 0, read: 0, failed: 0 }
  for (const { counts } of campaigns) {
    sum.total += counts.total
    sum.sent += counts.sent
    sum.delivered += counts.delivered
    sum.read += counts.read
    sum.failed += counts.failed
  }
  return sum
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
