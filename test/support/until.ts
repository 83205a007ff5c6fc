import { expect, vi } from 'vitest'
import { patience } from './patience.js'

/** Resolves once what is asked over and over is reached. */
export function until(isReached: () => boolean | Promise<boolean>): Promise<void> {
  return vi.waitFor(async () => expect(await isReached()).toBe(true), patience)
}
