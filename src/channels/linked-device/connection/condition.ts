import { withTimeout } from '../../../lib/async/timeout.js'

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** A condition variable: commands wait until the connection has changed. */
export interface Condition {
  /** Wakes all waiters, so that they check again. */
  notify(): void
  /** Resolves when `holds` returns true, or after `timeoutMs`. */
  waitUntil(holds: () => boolean, timeoutMs: number): Promise<void>
  /** The result, or null after `timeoutMs`; rejects if the work does. */
  withTimeout<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result | null>
}

export function createCondition(sleep: Sleep): Condition {
  const waiting = new Set<() => void>()

  async function waitUntil(holds: () => boolean, timeoutMs: number): Promise<void> {
    const over = new AbortController()
    let isLate = false
    sleep(timeoutMs, over.signal).then(
      () => {
        isLate = true
        notify()
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

  function notify(): void {
    const woken = [...waiting]
    waiting.clear()
    for (const wake of woken) wake()
  }

  return { notify, waitUntil, withTimeout: (work, timeoutMs) => withTimeout(work, timeoutMs, sleep) }
}
