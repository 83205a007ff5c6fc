import { sleep } from './backoff.js'

/** The result of the work, or null after `ms`; rejects if the work does. The work continues. `pause` is for tests. */
export async function withTimeout<Result>(
  work: Promise<Result>,
  ms: number,
  pause: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<Result | null> {
  const over = new AbortController()
  const late = pause(ms, over.signal).then(
    () => null,
    () => new Promise<never>(() => undefined),
  )
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}

/** Returns a function that gives the whole milliseconds left of `ms`, at least 0. */
export function startCountdown(ms: number): () => number {
  const end = performance.now() + ms
  return () => Math.max(0, Math.ceil(end - performance.now()))
}
