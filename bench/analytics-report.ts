import { BROADCASTS, LARGE_BROADCAST, ONE_OFF_TEMPLATES, RECIPIENTS_EACH } from './analytics-data.js'
import { formatTable, type Target } from './report.js'
import type { Analytics } from './subjects/analytics.js'

/** All tables of `--only analytics` except the targets. */
export function formatAnalytics({ fillSeconds, gigabytes, rows, verifySeconds }: Analytics): string {
  const table = rows.map((row) => [
    row.title,
    String(row.connections),
    row.perSecond.toFixed(0),
    ...[row.p50Ms, row.p95Ms, row.p99Ms].map((ms) => ms?.toFixed(2) ?? ''),
    row.nodeCpu?.toFixed(1) ?? '',
    row.postgresCpu.toFixed(1),
    row.peakMb?.toFixed(0) ?? '',
  ])
  const head = ['load', 'conn', 'req/s', 'p50 ms', 'p95 ms', 'p99 ms', 'Node CPU s/1,000', 'PG CPU s/1,000', 'peak MB']
  return [
    `a broadcast of ${count(LARGE_BROADCAST)} recipients with their messages; a year of ${count(BROADCASTS)} broadcasts of ${count(RECIPIENTS_EACH)} recipients (without messages); one-off sends of ${ONE_OFF_TEMPLATES} templates every day (counters only); ${gigabytes.toFixed(1)} GB, filled in ${fillSeconds.toFixed(0)} s`,
    formatTable(head, table),
    `recounting the recipients of the large broadcast took ${verifySeconds.toFixed(1)} s`,
  ].join('\n\n')
}

/** Compares the results of one connection with the targets. */
export function judgeAnalytics({ rows }: Analytics): Target[] {
  return [
    judge('one broadcast of 1,000,000 below 20 ms', rows.find(({ id }) => id === 'one')?.p95Ms, 20),
    judge('all of a year below 100 ms', rows.find(({ id }) => id === 'year')?.p95Ms, 100),
  ]
}

/** Compares the time of the 95th percentile with its limit. */
function judge(target: string, p95Ms: number | null | undefined, limitMs: number): Target {
  const ms = p95Ms ?? Number.POSITIVE_INFINITY
  return { target, measured: `${ms.toFixed(2)} ms`, met: ms < limitMs }
}

function count(value: number): string {
  return value.toLocaleString('en')
}
