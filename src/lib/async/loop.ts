import { backoffDelay, sleep } from './backoff.js'

/** Work that is done in rounds. */
export interface Loop {
  /** Starts the next round at once, or as soon as the running one has ended. */
  wake(): void
  /** Starts no further round; resolves when the running one has ended. */
  stop(): Promise<void>
}

export interface LoopOptions {
  /** Does one round; returns true if there may be more to do at once. */
  round: () => Promise<boolean>
  /** The pause until the next round in ms, unless the loop is woken. */
  pauseMs: () => number
  /** Called when a round failed; it is retried with back-off. */
  onFailure: (error: unknown) => void
}

const RETRY = { baseMs: 100, maxMs: 2_000, jitter: 0.5 }

/** Runs rounds one after the other, with a pause between them that ends early when the loop is woken. */
export function startLoop({ round, pauseMs, onFailure }: LoopOptions): Loop {
  const stopping = new AbortController()
  let isWoken = false
  let endPause = () => {}

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        isWoken = false
        const hasMore = await round()
        failures = 0
        if (!hasMore) await pause()
      } catch (error) {
        failures += 1
        onFailure(error)
        await sleep(backoffDelay(failures, RETRY), stopping.signal).catch(() => undefined)
      }
    }
  }

  async function pause(): Promise<void> {
    if (isWoken || stopping.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs())
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    endPause = () => {}
  }

  const running = run()
  return {
    wake: () => {
      isWoken = true
      endPause()
    },
    stop: async () => {
      stopping.abort()
      endPause()
      await running
    },
  }
}
