import { formatTable, type Target } from './report.js'
import type { BroadcastCost } from './subjects/broadcast.js'

/** Formats the costs of broadcasts as a table. */
export function formatBroadcast(costs: readonly BroadcastCost[]): string {
  const head = [
    'broadcast',
    'recipients',
    'answer s',
    'sent s',
    'recipients/s',
    'all statuses s',
    'Node CPU s/1,000',
    'PG CPU s/1,000',
    'simulator CPU s/1,000',
    'peak MB',
  ]
  const table = costs.map((cost) => [
    cost.title,
    cost.recipients.toLocaleString('en'),
    cost.answerSeconds.toFixed(1),
    cost.sentSeconds.toFixed(1),
    (cost.recipients / cost.sentSeconds).toFixed(0),
    cost.statusesSeconds.toFixed(1),
    ...[cost.nodeCpu, cost.postgresCpu, cost.simulatorCpu].map((cpu) => ((cpu / cost.recipients) * 1000).toFixed(2)),
    cost.peakMb.toFixed(0),
  ])
  return formatTable(head, table)
}

/** Compares them with the targets. */
export function judgeBroadcast(costs: readonly BroadcastCost[]): Target[] {
  return costs.map(({ title, targetPerSecond, recipients, sentSeconds }) => {
    const perSecond = recipients / sentSeconds
    return {
      target: `${targetPerSecond.toLocaleString('en')} recipients/s, ${title}`,
      measured: `${perSecond.toFixed(0)}/s`,
      met: perSecond >= targetPerSecond,
    }
  })
}
