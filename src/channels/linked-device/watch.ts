import { inTime } from '../../lib/async/timeout.js'

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** Lets commands wait for what the connection does. */
export interface Watch {
  /** Something has changed: those who wait look again. */
  changed(): void
  /** Resolves when it holds, or after `timeoutMs`. */
  until(holds: () => boolean, timeoutMs: number): Promise<void>
  /** The result, or null after `timeoutMs`; rejects as the work does. */
  inTime<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result | null>
}

export function createWatch(sleep: Sleep): Watch {
  const waiting = new Set<() => void>()

  async function until(holds: () => boolean, timeoutMs: number): Promise<void> {
    const over = new AbortController()
    let isLate = false
    sleep(timeoutMs, over.signal).then(
      () => {
        isLate = true
        changed()
      },
      () => undefined,
    )
    while (!holds() && !isLate) {
      await new Promise<void>((resolve) => {
        waiting.add(resolve)
      })
    }
    over.abort()
  }

  function changed(): void {
    const woken = [...waiting]
    waiting.clear()
    for (const wake of woken) wake()
  }

  return { changed, until, inTime: (work, timeoutMs) => inTime(work, timeoutMs, sleep) }
}
