import { formatTable, type Target } from './report.js'
import type { ConsoleFigures, Times } from './subjects/console.js'

const MAX_SCRIPT_KB = 250
const MAX_SHOWN_MS = 300
/** Three frames at 60 Hz. A longer frame is visible as a stutter. */
const MAX_FRAME_MS = 50

/** Formats the table of `--only console`. */
export function formatConsole({ firstLoad, openInboxMs, openThreadMs, frames, shown, listed }: ConsoleFigures): string {
  const { scriptKb, styleKb } = firstLoad
  return formatTable(
    ['the page in Chromium, 1,000,000 messages of 10,000 contacts', 'p50', 'p95', 'longest'],
    [
      ['first load: script, style (compressed)', `${scriptKb.toFixed(0)} kB`, `${styleKb.toFixed(0)} kB`, ''],
      ['inbox opens', ms(openInboxMs), '', ''],
      ['conversation of 100,000 messages opens', ms(openThreadMs), '', ''],
      [`between two of ${frames.count} frames while it is scrolled ${frames.pixels} px up`, ...row(frames)],
      ['a message shows in the open conversation', ...row(shown)],
      ['a message shows in the list', ...row(listed)],
    ],
  )
}

/** Compares the results with the targets. */
export function judgeConsole({ firstLoad, frames, shown }: ConsoleFigures): Target[] {
  const { over50, count } = frames
  return [
    {
      target: `first load below ${MAX_SCRIPT_KB} kB of compressed script`,
      measured: `${firstLoad.scriptKb.toFixed(0)} kB`,
      met: firstLoad.scriptKb < MAX_SCRIPT_KB,
    },
    {
      target: `a conversation of 100,000 messages scrolls smoothly: 99 of 100 frames within ${MAX_FRAME_MS} ms`,
      measured: `${(100 - (over50 / count) * 100).toFixed(1)} of 100`,
      met: over50 / count <= 0.01,
    },
    {
      target: `a message received shows within ${MAX_SHOWN_MS} ms`,
      measured: `p95 ${ms(shown.p95)}, longest ${ms(shown.longest)}`,
      met: shown.longest <= MAX_SHOWN_MS,
    },
  ]
}

function row({ p50, p95, longest }: Times): [string, string, string] {
  return [ms(p50), ms(p95), ms(longest)]
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`
}
