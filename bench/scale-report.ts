import type { Row } from './measure.js'
import { formatRows, formatTable, type Target } from './report.js'
import type { QuestionPlan, Scale } from './subjects/scale.js'

/** All tables of `--only scale` except the targets. */
export function formatScale(scale: Scale): string {
  const { messages, fillSeconds, gigabytes, indexedPerSecond, rows, plans } = scale
  return [
    `${count(messages)} messages, ${gigabytes.toFixed(1)} GB, filled in ${count(fillSeconds)} s; the job made ${count(indexedPerSecond)} messages/s searchable`,
    formatRows(rows),
    formatPlans(plans),
  ].join('\n\n')
}

/** Compares the results of one connection with the targets. */
export function judgeScale({ rows }: Scale): Target[] {
  const starting = (prefix: string) => rows.filter(({ id, connections }) => connections === 1 && id.startsWith(prefix))
  return [
    judgeTime('the slowest page below 5 ms', starting('page.'), 5),
    judgeTime('search in a conversation of 1,000 below 10 ms', starting('middle.'), 10),
    judgeTime('search in the long conversation below 150 ms', starting('search.'), 150),
    judgeTime('search of contacts below 30 ms', starting('contacts.'), 30),
    ...starting('size.').flatMap(judgeSize),
  ]
}

/** Compares the median of the slowest of these loads with its limit. */
function judgeTime(target: string, rows: readonly Row[], limitMs: number): Target {
  const [slowest] = rows.toSorted((a, b) => (b.p50Ms ?? 0) - (a.p50Ms ?? 0))
  const ms = slowest?.p50Ms ?? Number.POSITIVE_INFINITY
  return { target, measured: `${ms.toFixed(2)} ms (${slowest?.title})`, met: ms < limitMs }
}

function judgeSize({ ratio, title }: Row): Target[] {
  if (!ratio) return []
  const cost = 1 / ratio.rate
  return [
    { target: `${title}: at most 1.5 times the small one`, measured: `${cost.toFixed(2)} times`, met: cost <= 1.5 },
  ]
}

function formatPlans(plans: readonly QuestionPlan[]): string {
  const rows = plans.flatMap(({ title, statements }) =>
    statements.map((plan, index) => [
      index === 0 ? title : '',
      plan.statement,
      plan.isGeneric ? 'generic' : 'custom',
      plan.milliseconds.toFixed(2),
      count(plan.rowsRead),
      count(plan.blocksHit),
      count(plan.blocksRead),
      plan.accessPaths.join(', '),
    ]),
  )
  const head = ['request', 'statement', 'plan', 'ms', 'rows read', 'blocks hit', 'blocks read', 'by']
  return formatTable(head, rows)
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}
