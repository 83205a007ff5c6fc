import type { Row } from './measure.js'
import { formatRows, formatTable, type Target } from './report.js'
import type { GatewayCosts, InstanceMemory } from './subjects/gateway.js'

/**
 * The maximum CPU per request, of Node and PostgreSQL: of a send through an instance relative to POST /send-chat, and
 * of a state relative to GET /contact.
 */
const MAX_SEND_RATIO = 1.15
const MAX_CONTACT_RATIO = 1.3
const MAX_FIND_MS = 20

/** All tables of `--only gateway` except the targets. */
export function formatGateway({ reading, states, sends, memory }: GatewayCosts): string {
  return [formatReading(reading), formatRows(states), formatRows(sends), formatMemory(memory)].join('\n\n')
}

/** Compares the results with the targets. */
export function judgeGateway({ reading, states, sends }: GatewayCosts): Target[] {
  return [
    ...sends.filter(isOf('sandbox', 'business')).map((row) => judgeCpu(row, MAX_SEND_RATIO)),
    ...states.filter(isOf('state', 'state-token')).map((row) => judgeCpu(row, MAX_CONTACT_RATIO)),
    ...reading.filter(({ id, connections }) => connections === 1 && !id.startsWith('find.small.')).map(judgeFind),
  ]
}

function formatReading(rows: readonly Row[]): string {
  const table = rows.map((row) => [
    row.title,
    String(row.connections),
    row.perSecond.toFixed(0),
    ...[row.p50Ms, row.p95Ms, row.p99Ms].map((ms) => ms?.toFixed(2) ?? ''),
    row.nodeCpu?.toFixed(3) ?? '',
    row.postgresCpu.toFixed(3),
    row.peakMb?.toFixed(0) ?? '',
  ])
  const head = [
    'findMessages',
    'conn',
    'req/s',
    'p50 ms',
    'p95 ms',
    'p99 ms',
    'Node CPU s/1,000',
    'PG CPU s/1,000',
    'peak MB',
  ]
  return formatTable(head, table)
}

function formatMemory({ instances, oneMb, firstMb, secondMb }: InstanceMemory): string {
  const each = (more: number) => `${(more / instances).toFixed(3)} MB`
  return formatTable(
    ['SANDBOX instances, connected', 'memory (RSS)', 'each'],
    [
      ['one', `${oneMb.toFixed(0)} MB`, ''],
      [`${instances} more`, `${firstMb.toFixed(0)} MB`, each(firstMb - oneMb)],
      [`${instances} more again`, `${secondMb.toFixed(0)} MB`, each(secondMb - firstMb)],
    ],
  )
}

/** Selects the rows of these loads, with any number of connections. */
function isOf(...names: string[]) {
  return ({ id, connections }: Row) => names.some((name) => id === `${name}.${connections}`)
}

function judgeCpu({ title, connections, ratio }: Row, max: number): Target {
  const cpu = ratio?.cpu ?? Number.POSITIVE_INFINITY
  return {
    target: `${title}, conn ${connections}: at most ${max} times the CPU of "${ratio?.of}"`,
    measured: `${cpu.toFixed(2)} times`,
    met: cpu <= max,
  }
}

/** Compares the median with its limit. */
function judgeFind({ title, p50Ms }: Row): Target {
  const ms = p50Ms ?? Number.POSITIVE_INFINITY
  return {
    target: `${title}: p50 at most ${MAX_FIND_MS} ms`,
    measured: `${ms.toFixed(2)} ms`,
    met: ms <= MAX_FIND_MS,
  }
}
