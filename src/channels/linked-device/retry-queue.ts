import { backoffDelay } from '../../lib/async/backoff.js'

/** Something that is to be recorded, in its turn. */
export interface PendingWrite {
  record(): Promise<void>
  /** The network's ids of the messages in it, which it will not hand over again; none: what is of no use later. */
  messageIds: readonly string[]
}

export interface RetryQueueOptions {
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  random: () => number
  /** Hears of each failure of the same delivery, the first being 1; it is tried again. */
  onFailure: (error: unknown, failures: number) => void
  /** Hears of each delivery that could not be made before the end. */
  onAbandoned: (write: PendingWrite) => void
}

/** Records what the network tells, one thing after the other and each until it is recorded. */
export interface RetryQueue {
  push(write: PendingWrite): void
  /** Resolves when nothing is left, or at the end. */
  drained(): Promise<void>
  /** Tries what is left, and whatever comes afterwards, once more and no more. */
  close(): Promise<void>
}

const RETRY = { baseMs: 200, maxMs: 15_000, jitter: 0.5 }

export function createRetryQueue({ sleep, random, onFailure, onAbandoned: onLeft }: RetryQueueOptions): RetryQueue {
  const closing = new AbortController()
  const waiting: PendingWrite[] = []
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (!(await isRecorded(next))) onLeft(next)
      waiting.shift()
    }
    running = null
  }

  /** False only where the end came first. */
  async function isRecorded(write: PendingWrite): Promise<boolean> {
    for (let failures = 1; ; failures++) {
      const isLast = closing.signal.aborted
      try {
        await write.record()
        return true
      } catch (error) {
        onFailure(error, failures)
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
