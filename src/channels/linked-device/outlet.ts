import { backoffDelay } from '../../lib/async/backoff.js'

/** Something that is to be recorded, in its turn. */
export interface Delivery {
  record(): Promise<void>
  /** The network's ids of the messages in it, which it will not hand over again; none: what is of no use later. */
  messageIds: readonly string[]
}

export interface OutletOptions {
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  random: () => number
  /** Hears of each failure of the same delivery, the first being 1; it is tried again. */
  onFailure: (error: unknown, failures: number) => void
  /** Hears of each delivery that could not be made before the end. */
  onLeft: (delivery: Delivery) => void
}

/** Records what the network tells, one thing after the other and each until it is recorded. */
export interface Outlet {
  push(delivery: Delivery): void
  /** Resolves when nothing is left, or at the end. */
  drained(): Promise<void>
  /** Tries what is left, and whatever comes afterwards, once more and no more. */
  close(): Promise<void>
}

const RETRY = { baseMs: 200, maxMs: 15_000, jitter: 0.5 }

export function openOutlet({ sleep, random, onFailure, onLeft }: OutletOptions): Outlet {
  const closing = new AbortController()
  const waiting: Delivery[] = []
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (!(await isRecorded(next))) onLeft(next)
      waiting.shift()
    }
    running = null
  }

  /** False only where the end came first. */
  async function isRecorded(delivery: Delivery): Promise<boolean> {
    for (let failures = 1; ; failures++) {
      const isLast = closing.signal.aborted
      try {
        await delivery.record()
        return true
      } catch (error) {
        onFailure(error, failures)
        if (isLast) return false
        await sleep(backoffDelay(failures, RETRY, random), closing.signal).catch(() => undefined)
      }
    }
  }

  return {
    push: (delivery) => {
      waiting.push(delivery)
      running ??= run()
    },
    drained: async () => {
      await running
    },
    close: async () => {
      closing.abort()
      await running
    },
  }
}
