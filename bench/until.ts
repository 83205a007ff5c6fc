import { setTimeout } from 'node:timers/promises'

/** Resolves when it is so; looks every `pollMs`. Throws after `longestMs`, saying what was waited for. */
export async function until(
  isSo: () => Promise<boolean>,
  { what, pollMs, longestMs }: { what: string; pollMs: number; longestMs: number },
): Promise<void> {
  const deadline = Date.now() + longestMs
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`after ${longestMs / 60_000} minutes ${what}`)
    await setTimeout(pollMs)
  }
}
