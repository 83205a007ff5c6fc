import { backoffDelay, sleep } from './backoff.js'

/** Work that comes up again and again. */
export interface Loop {
  /** There is something to do: the next round begins at once, or as soon as the one under way has ended. */
  wake(): void
  /** Begins no further round; resolves when the last one has ended. */
  stop(): Promise<void>
}

export interface LoopOptions {
  /** Does what has come up; whether there may be more to do at once. */
  round: () => Promise<boolean>
  /** In how many milliseconds the next round begins if nobody calls. */
  pauseMs: () => number
  /** Hears of a round that failed; it is done again after a while. */
  onFailure: (error: unknown) => void
}

const RETRY = { baseMs: 100, maxMs: 2_000, jitter: 0.5 }

/** Does rounds one after the other, whenever called and from time to time. */
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
