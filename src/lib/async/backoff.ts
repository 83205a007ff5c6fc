import { setTimeout } from 'node:timers/promises'

/** How the waits between attempts grow. */
export interface BackoffOptions {
  /** The wait after the first attempt. */
  baseMs: number
  /** Each wait is the last one times this; default 2. */
  factor?: number
  /** The longest wait. */
  maxMs: number
  /** The share (0 to 1) of a wait that is cut off at random, so that many clients do not retry at the same moment. */
  jitter: number
}

/** Milliseconds to wait after failed attempt `attempt` (from 1): exponential, capped, minus jitter. */
export function backoffDelay(
  attempt: number,
  { baseMs, factor = 2, maxMs, jitter }: BackoffOptions,
  random: () => number = Math.random,
): number {
  const full = Math.min(maxMs, baseMs * factor ** (attempt - 1))
  return Math.round(full * (1 - jitter * random()))
}

/** Resolves after `ms` milliseconds; rejects with an AbortError when `signal` aborts. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal })
}
