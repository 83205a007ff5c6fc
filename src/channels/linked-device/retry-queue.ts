import { backoffDelay } from '../../lib/async/backoff.js'

/** One write of the queue. */
export interface PendingWrite {
  record(): Promise<void>
  /**
   * The network's ids of the messages in this write, which the network does not send again; empty if the write may be
   * dropped.
   */
  messageIds: readonly string[]
}

export interface RetryQueueOptions {
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  random: () => number
  /**
   * Called for each failure of a write, starting with 1; the write is repeated. `ms`: since the first attempt began.
   */
  onFailure: (error: unknown, failures: number, ms: number) => void
  /** Called for each write that failed until the end. */
  onAbandoned: (write: PendingWrite) => void
}

/** Writes one item after the other, repeating each until it succeeds. */
export interface RetryQueue {
  push(write: PendingWrite): void
  /** Resolves when the queue is empty or closed. */
  drained(): Promise<void>
  /** Tries each remaining item once more. Items added later are also tried once. */
  close(): Promise<void>
}

const RETRY = { baseMs: 200, maxMs: 15_000, jitter: 0.5 }

export function createRetryQueue({ sleep, random, onFailure, onAbandoned }: RetryQueueOptions): RetryQueue {
  const closing = new AbortController()
  const waiting: PendingWrite[] = []
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (!(await isRecorded(next))) onAbandoned(next)
      waiting.shift()
    }
    running = null
  }

  /** False only if the queue was closed first. */
  async function isRecorded(write: PendingWrite): Promise<boolean> {
    const begunAt = performance.now()
    for (let failures = 1; ; failures++) {
      const isLast = closing.signal.aborted
      try {
        await write.record()
        return true
      } catch (error) {
        onFailure(error, failures, performance.now() - begunAt)
        if (isLast) return false
        await sleep(backoffDelay(failures, RETRY, random), closing.signal).catch(() => undefined)
      }
    }
  }

  return {
    push: (write) => {
      waiting.push(write)
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
