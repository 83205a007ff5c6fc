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
  /** Milliseconds until the next round, unless it is woken. */
  pauseMs: () => number
  /** Called when a round failed; it is repeated after a while. */
  onFailure: (error: unknown) => void
}

const RETRY = { baseMs: 100, maxMs: 2_000, jitter: 0.5 }

/** Runs rounds one after the other, when woken and from time to time. */
export function startLoop({ round, pauseMs, onFailure }: LoopOptions): Loop {
  const stopping = new AbortController()
  let isCalled = false
  let endNap = () => {}

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        isCalled = false
        const hasMore = await round()
        failures = 0
        if (!hasMore) await nap()
      } catch (error) {
        failures += 1
        onFailure(error)
        await sleep(backoffDelay(failures, RETRY), stopping.signal).catch(() => undefined)
      }
    }
  }

  async function nap(): Promise<void> {
    if (isCalled || stopping.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs())
      endNap = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    endNap = () => {}
  }

  const running = run()
  return {
    wake: () => {
      isCalled = true
      endNap()
    },
    stop: async () => {
      stopping.abort()
      endNap()
      await running
    },
  }
}
