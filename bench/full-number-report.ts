import { quantile } from './measure.js'
import { formatTable, type Target } from './report.js'
import type { FullNumber } from './subjects/full-number.js'

const MAX_P50_MS = 25
const MAX_P99_MS = 250
const MAX_READ_MS = 100
/** Callbacks that wait at the end for longer than this share of the load were piling up. */
const MAX_CATCH_UP = 0.05

/** Formats the measurement as a table. */
export function formatFullNumber(measured: FullNumber): string {
  const { share, seconds, sends, callbacks, reads, backlog, catchUpSeconds, lost, nodeCpu, postgresCpu, memoryMb } =
    measured
  const ms = ({ p50Ms, p99Ms }: { p50Ms: number; p99Ms: number }) => `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} ms`
  return formatTable(
    [`${share} % of a full number for ${seconds.toFixed(0)} s`, 'value'],
    [
      ['texts sent per second', sends.perSecond.toFixed(0)],
      ['answer to a send, p50 / p99', ms(sends)],
      ['answer to a callback, p50 / p99', ms(callbacks)],
      ['page of a conversation, p50 / p99', ms(reads)],
      [
        'waiting callbacks, median / most / at the end',
        `${medianOf(backlog)} / ${Math.max(...backlog)} / ${backlog.at(-1)}`,
      ],
      ['until all was processed', `${catchUpSeconds.toFixed(1)} s`],
      ['lost', String(lost)],
      ['CPU of the service', `${(nodeCpu * 100).toFixed(0)} % of a core`],
      ['CPU of PostgreSQL', `${(postgresCpu * 100).toFixed(0)} % of a core`],
      ['memory of the service, start / end', `${memoryMb.start.toFixed(0)} / ${memoryMb.end.toFixed(0)} MB`],
    ],
  )
}

/** Compares it with the targets. */
export function judgeFullNumber({ seconds, callbacks, reads, catchUpSeconds, lost }: FullNumber): Target[] {
  return [
    {
      target: `answers to callbacks p50 at most ${MAX_P50_MS} ms, p99 at most ${MAX_P99_MS} ms`,
      measured: `${callbacks.p50Ms.toFixed(1)} and ${callbacks.p99Ms.toFixed(1)} ms`,
      met: callbacks.p50Ms <= MAX_P50_MS && callbacks.p99Ms <= MAX_P99_MS,
    },
    {
      target: 'the backlog stays flat',
      measured: `all processed ${catchUpSeconds.toFixed(1)} s after the load of ${seconds.toFixed(0)} s`,
      met: catchUpSeconds <= Math.max(1, seconds * MAX_CATCH_UP),
    },
    { target: 'nothing is lost', measured: `${lost} lost`, met: lost === 0 },
    {
      target: `a page of a conversation meanwhile in at most ${MAX_READ_MS} ms`,
      measured: `p99 ${reads.p99Ms.toFixed(1)} ms`,
      met: reads.p99Ms <= MAX_READ_MS,
    },
  ]
}

function medianOf(samples: readonly number[]): number {
  return quantile(Float64Array.from(samples).sort(), 0.5) ?? 0
}
