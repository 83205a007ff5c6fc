import type { Streams } from './invocation.js'

/** Shows how far long work has come, on standard error: a bar on a terminal, otherwise a line now and then. */
export interface Progress {
  /** How much there is to do; 0: unknown. */
  expect(total: number): void
  /** The next part of the work, in a few words. */
  begin(part: string): void
  /** So much more is done. */
  advance(done: number): void
  /** Removes the bar before something else is printed. */
  clear(): void
  end(): void
}

const WIDTH = 24
const BAR_MS = 100
const LINE_MS = 10_000

/** `quiet`: nothing is printed. `unit`: what is counted. */
export function createProgress({ stderr }: Streams, quiet: boolean, unit = 'rows'): Progress {
  const isTerminal = (stderr as { isTTY?: boolean }).isTTY === true
  const everyMs = isTerminal ? BAR_MS : LINE_MS
  const startedAt = performance.now()
  let printedAt = startedAt
  let total = 0
  let done = 0
  let part = ''
  const clear = () => {
    if (isTerminal && !quiet) stderr.write('\r\u001b[K')
  }
  const print = () => {
    const now = performance.now()
    if (quiet || now - printedAt < everyMs) return
    printedAt = now
    const speed = Math.round(done / ((now - startedAt) / 1_000))
    const share = total > 0 ? Math.min(done / total, 1) : null
    const figures = `${done} ${unit}, ${speed}/s, ${part}`
    const percent = share === null ? '' : `${Math.floor(share * 100)} % `
    if (!isTerminal) return stderr.write(`${percent}${figures}\n`)
    const bar = share === null ? '' : `[${'#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '-')}] `
    return stderr.write(`\r\u001b[K${bar}${percent}${figures}`)
  }
  return {
    expect: (all) => {
      total = all
    },
    begin: (next) => {
      part = next
      print()
    },
    advance: (more) => {
      done += more
      print()
    },
    clear,
    end: clear,
  }
}
