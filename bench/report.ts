import type { Row } from './measure.js'
import type { Footprint } from './subjects/footprint.js'
import type { IdleCost } from './subjects/idle.js'
import type { MediaMemory } from './subjects/media.js'

/** All results of a run. */
export interface Results {
  rows: Row[]
  media: MediaMemory | null
  footprint: Footprint | null
  idle: IdleCost | null
}

/** A target of the service, with the result of this run. */
export interface Target {
  target: string
  measured: string
  met: boolean
}

/** Formats a table of loads. */
export function formatRows(rows: readonly Row[]): string {
  const table = rows.map((row) => [
    row.title,
    String(row.connections),
    count(row.perSecond),
    decimals(row.p50Ms, 2),
    decimals(row.p99Ms, 2),
    decimals(row.nodeCpu, 3),
    decimals(row.postgresCpu, 3),
    decimals(row.peakMb, 0),
    percent(row.ratio?.rate),
    percent(row.ratio?.cpu),
  ])
  const head = [
    'load',
    'conn',
    'req/s',
    'p50 ms',
    'p99 ms',
    'Node CPU s/1,000',
    'PG CPU s/1,000',
    'peak MB',
    'rate',
    'CPU',
  ]
  return [formatTable(head, table), ...ratioNotes(rows), ...backlogNotes(rows)].join('\n')
}

/** Formats the memory used for large files as a table. */
export function formatMedia({ idleMb, oneMb, tenMb }: MediaMemory): string {
  return formatTable(
    ['documents of 100 MB', 'memory (RSS)'],
    [
      ['10 s after a small document', `${idleMb.toFixed(0)} MB`],
      ['one: additional peak', `${oneMb.toFixed(0)} MB`],
      ['ten at once: additional peak', `${tenMb.toFixed(0)} MB`],
    ],
  )
}

/** Formats start time and idle memory as a table. */
export function formatFootprint({ readyMs, idleMb, idleWithSandboxMb }: Footprint): string {
  return formatTable(
    ['footprint', 'value'],
    [
      ['ready on an existing database, median', `${count(median(readyMs))} ms`],
      ['ready, fastest and slowest', `${count(readyMs[0] ?? 0)} to ${count(readyMs.at(-1) ?? 0)} ms`],
      ['idle memory (RSS), 10 s after start', `${idleMb.toFixed(0)} MB`],
      ['the same with the built-in sandbox', `${idleWithSandboxMb.toFixed(0)} MB`],
    ],
  )
}

/** Formats the CPU of an idle process as a table. */
export function formatIdle({ node, postgres }: IdleCost): string {
  return formatTable(
    ['idle for a minute', 'of a core'],
    [
      ['the service', hundredths(node)],
      ['PostgreSQL, all its processes', hundredths(postgres)],
    ],
  )
}

/** Compares the results with the targets; leaves out what was not measured. */
export function judge({ rows, media, footprint, idle }: Results): Target[] {
  const find = (id: string) => rows.find((row) => row.id === id)
  return [
    judgeContact(find('contact')),
    judgeCallback(find('callbacks')),
    ...judgeSend(find('send')),
    judgeTracing(find('send.traced')),
    judgePages(find('conversations.far'), 'with 32 connections'),
    judgePages(find('conversations.far.1'), 'with 1 connection'),
    ...judgeMedia(media),
    ...judgeFootprint(footprint),
    ...judgeIdle(idle),
  ].filter((target) => target !== null)
}

/** Formats the targets as a table. */
export function formatTargets(targets: readonly Target[]): string {
  return formatTable(
    ['targets', 'measured', 'verdict'],
    targets.map(({ target, measured, met }) => [target, measured, met ? 'met' : 'missed']),
  )
}

/** A Markdown table that is also readable in a terminal. The first column is text, the others are aligned right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(3, name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

function ratioNotes(rows: readonly Row[]): string[] {
  const bases = new Set(rows.flatMap((row) => (row.ratio ? [row.ratio.of] : [])))
  return bases.size === 0
    ? []
    : ['', `rate, CPU of both per request: as shares of "${[...bases].join('", "')}" with as many connections`]
}

function backlogNotes(rows: readonly Row[]): string[] {
  const notes = rows.flatMap(({ backlog, connections }) =>
    backlog
      ? [
          `conn ${connections}: all processed ${backlog.seconds.toFixed(1)} s after the last answer, ${count(backlog.perSecond)} messages/s end to end`,
        ]
      : [],
  )
  return notes.length === 0 ? [] : ['', ...notes]
}

function judgeContact(row: Row | undefined): Target | null {
  if (!row?.ratio) return null
  return {
    target: 'GET /contact at least 70 % of bare Fastify with one named statement',
    measured: percent(row.ratio.rate),
    met: row.ratio.rate >= 0.7,
  }
}

/** Seconds per 1,000 are milliseconds per request. */
function judgeCallback(row: Row | undefined): Target | null {
  if (!row || row.nodeCpu === null) return null
  return {
    target: 'a callback below 1 ms CPU of Node, with its processing',
    measured: `${row.nodeCpu.toFixed(3)} ms`,
    met: row.nodeCpu < 1,
  }
}

function judgeSend(row: Row | undefined): Target[] {
  if (!row?.ratio || row.nodeCpu === null) return []
  return [
    { target: 'a text below 1.2 ms CPU of Node', measured: `${row.nodeCpu.toFixed(3)} ms`, met: row.nodeCpu < 1.2 },
    {
      target: 'POST /send-chat of a text at least 70 % of one insert + one upstream call',
      measured: percent(row.ratio.rate),
      met: row.ratio.rate >= 0.7,
    },
  ]
}

function judgeTracing(row: Row | undefined): Target | null {
  if (!row?.ratio) return null
  return {
    target: 'exporting 1 % of the traces costs at most 5 % CPU per send',
    measured: percent(row.ratio.cpu - 1),
    met: row.ratio.cpu <= 1.05,
  }
}

function judgePages(far: Row | undefined, how: string): Target | null {
  if (!far?.ratio) return null
  const cost = 1 / far.ratio.rate
  return {
    target: `page 1,000 at most 2 times page 1, ${how}`,
    measured: `${cost.toFixed(2)} times`,
    met: cost <= 2,
  }
}

function judgeMedia(media: MediaMemory | null): Target[] {
  if (!media) return []
  const { oneMb, tenMb } = media
  return [
    { target: 'a document of 100 MB below 40 MB of memory', measured: `${oneMb.toFixed(0)} MB`, met: oneMb < 40 },
    { target: 'ten of them at once below 150 MB', measured: `${tenMb.toFixed(0)} MB`, met: tenMb < 150 },
  ]
}

function judgeFootprint(footprint: Footprint | null): Target[] {
  if (!footprint) return []
  const ready = median(footprint.readyMs)
  return [
    { target: 'idle memory below 150 MB', measured: `${footprint.idleMb.toFixed(0)} MB`, met: footprint.idleMb < 150 },
    { target: 'ready in under 3 s on an existing database', measured: `${count(ready)} ms`, met: ready < 3_000 },
  ]
}

function judgeIdle(idle: IdleCost | null): Target[] {
  if (!idle) return []
  return [
    { target: 'an idle process at most 0.3 % of a core', measured: hundredths(idle.node), met: idle.node <= 0.003 },
  ]
}

function hundredths(share: number): string {
  if (Number.isNaN(share)) return ''
  return `${(share * 100).toFixed(2)} %`
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function percent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? '' : `${Math.round(share * 100)} %`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function decimals(value: number | null, digits: number): string {
  return value === null || Number.isNaN(value) ? '' : value.toFixed(digits)
}
