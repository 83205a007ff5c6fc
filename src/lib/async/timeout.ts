import { sleep } from './backoff.js'

/** What the work comes to, or null after `ms`; rejects as the work does. The work itself goes on. `pause`: of tests. */
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

/** How many milliseconds of `ms` are left; 0 when they are over. */
export function startCountdown(ms: number): () => number {
  const end = performance.now() + ms
  return () => Math.max(0, end - performance.now())
}
