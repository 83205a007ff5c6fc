import { setTimeout } from 'node:timers/promises'

/**
 * Resolves when the condition holds; checks it every `pollMs`. Throws after `timeoutMs`, naming the unmet condition.
 */
export async function until(
  condition: () => Promise<boolean>,
  { what, pollMs, timeoutMs }: { what: string; pollMs: number; timeoutMs: number },
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`after ${timeoutMs / 60_000} minutes ${what}`)
    await setTimeout(pollMs)
  }
}
