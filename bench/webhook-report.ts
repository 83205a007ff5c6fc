import { formatTable, type Target } from './report.js'
import type { WebhookCost, WebhookCosts } from './subjects/webhooks.js'

const MAX_P50_MS = 20

/** Formats the costs of webhooks as tables. */
export function formatWebhooks({ costs, fetchLoop, latency }: WebhookCosts): string {
  const head = [
    'webhooks',
    'events',
    'deliveries',
    'events/s',
    'deliveries/s',
    'Node CPU s/1,000',
    'PG CPU s/1,000',
    'peak MB',
    'rate of fetch',
    'Node CPU of fetch',
  ]
  const table = [fetchLoop, ...costs].map((cost) => [
    cost.title,
    cost.events.toLocaleString('en'),
    deliveriesOf(cost).toLocaleString('en'),
    (cost.events / cost.seconds).toFixed(0),
    (deliveriesOf(cost) / cost.seconds).toFixed(0),
    nodeCpuOf(cost).toFixed(3),
    ((cost.postgresCpu / deliveriesOf(cost)) * 1_000).toFixed(3),
    cost.peakMb.toFixed(0),
    (deliveriesOf(cost) / cost.seconds / (fetchLoop.events / fetchLoop.seconds)).toFixed(2),
    (nodeCpuOf(cost) / nodeCpuOf(fetchLoop)).toFixed(2),
  ])
  const times = [latency.p50Ms, latency.p95Ms, latency.answerP50Ms].map((ms) => ms.toFixed(1))
  return [
    formatTable(head, table),
    formatTable(['latency when idle', 'p50 ms', 'p95 ms', 'answer p50 ms'], [['change to receiver', ...times]]),
  ].join('\n\n')
}

/** Compares them with the targets. */
export function judgeWebhooks({ latency }: WebhookCosts): Target[] {
  return [
    {
      target: `from commit to the receiver when idle, p50 below ${MAX_P50_MS} ms`,
      measured: `${latency.p50Ms.toFixed(1)} ms from asking for the change`,
      met: latency.p50Ms < MAX_P50_MS,
    },
  ]
}

function deliveriesOf({ events, endpoints }: WebhookCost): number {
  return events * endpoints
}

/** Seconds of Node's CPU per 1,000 deliveries. */
function nodeCpuOf(cost: WebhookCost): number {
  return (cost.nodeCpu / deliveriesOf(cost)) * 1_000
}
