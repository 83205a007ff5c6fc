import { expect, vi } from 'vitest'

/** Resolves once what is asked over and over is reached. */
export type Until = (isReached: () => boolean | Promise<boolean>) => Promise<void>

/** `until` with the patience of a test file, in milliseconds. */
export function createUntil(patience: { timeout: number; interval: number }): Until {
  return (isReached) => vi.waitFor(async () => expect(await isReached()).toBe(true), patience)
}
