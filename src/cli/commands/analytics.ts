import type { Command } from 'commander'
import { readAnalytics, readBroadcastAnalytics } from '../../core/analytics/read.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { isUuid } from '../../lib/bytes/id.js'
import { readDateRange } from '../../model/broadcasts/analytics.js'
import { CliFailure } from '../failure.js'
import type { Invocation, Streams } from '../invocation.js'
import { asOperator, ORGANIZATION } from '../operator.js'
import { printFields, printList, type Row } from '../output.js'

interface ShowOptions {
  org: string
  broadcast?: string
  from?: string
  to?: string
  json?: boolean
}

/** `parley analytics …`: shows the results of an organization's broadcasts. */
export function addAnalyticsCommands(program: Command, invocation: Invocation): void {
  const analytics = program.command('analytics').description('show the results of broadcasts')
  analytics
    .command('show')
    .description('show the analytics of one broadcast, or of all broadcasts that started in a range of days')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--broadcast <id>', 'show only this broadcast')
    .option('--from <date>', 'first day, such as 2026-01-01')
    .option('--to <date>', 'last day, inclusive')
    .option('--json', 'print JSON, as GET /broadcast-analytics answers')
    .action((options) => show(invocation, options))
}

async function show(invocation: Invocation, { org, broadcast, from, to, json }: ShowOptions): Promise<void> {
  const id = readId(broadcast)
  if (id === undefined && (from === undefined || to === undefined)) {
    throw new CliFailure(2, 'Give --broadcast, or --from and --to')
  }
  await asOperator(invocation.env, async (operator, { channelNames }) => {
    const ctx = { ...operator, channelNames }
    const organization = await findOrganizationByName(ctx, org)
    if (id !== undefined) {
      const analytics = await readBroadcastAnalytics(ctx, organization, id)
      return json ? printFields(invocation.streams, analytics, { json }) : printBroadcast(invocation.streams, analytics)
    }
    const analytics = await readAnalytics(ctx, organization, readDateRange(from, to, 'query'))
    return json ? printFields(invocation.streams, analytics, { json }) : printRange(invocation.streams, analytics)
  })
}

function readId(broadcast: string | undefined): string | undefined {
  if (broadcast === undefined || isUuid(broadcast)) return broadcast?.toLowerCase()
  throw new CliFailure(2, `--broadcast must be the id of a broadcast, not "${broadcast}"`)
}

function printBroadcast(
  streams: Streams,
  {
    broadcastInfo,
    deliveryStats,
    conversionFunnel: { buttonClicked, optedOut },
    allButtons,
    optOutAnalytics: { optOutRate },
    revenue: { totalRevenue, currency, orderCount, utmCampaigns },
  }: Awaited<ReturnType<typeof readBroadcastAnalytics>>,
): void {
  const all = { ...broadcastInfo, ...deliveryStats, buttonClicked, optedOut, optOutRate }
  printFields(streams, { ...all, revenue: `${totalRevenue} ${currency}`, orderCount }, {})
  printSection(streams, 'Buttons', allButtons)
  printSection(streams, 'Revenue', utmCampaigns)
}

function printRange(
  streams: Streams,
  { overallStats, campaignPerformance, errorAnalysis }: Awaited<ReturnType<typeof readAnalytics>>,
): void {
  printFields(streams, overallStats, {})
  printSection(streams, 'Campaigns', campaignPerformance)
  printSection(streams, 'Errors', errorAnalysis)
}

function printSection(streams: Streams, title: string, rows: readonly Row[]): void {
  streams.stdout.write(`\n${title}\n`)
  printList(streams, rows, {})
}
