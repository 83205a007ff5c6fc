import { setTimeout } from 'node:timers/promises'

/** How the waits between attempts grow; times in milliseconds. */
export interface BackoffOptions {
  /** The wait after the first attempt. */
  baseMs: number
  /** What each wait is multiplied by to give the next; 2 when left out. */
  factor?: number
  /** No wait is longer than this. */
  maxMs: number
  /** The share (0 to 1) of a wait that chance may take off, so that many clients do not come back at once. */
  jitter: number
}

/** Milliseconds to wait after failed attempt number `attempt` (the first is 1): exponential, capped, then shortened by chance. */
export function backoffDelay(
  attempt: number,
  { baseMs, factor = 2, maxMs, jitter }: BackoffOptions,
  random: () => number = Math.random,
): number {
  const full = Math.min(maxMs, baseMs * factor ** (attempt - 1))
  return Math.round(full * (1 - jitter * random()))
}

/** Resolves after `ms` milliseconds; rejects with an AbortError as soon as `signal` is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal })
}
