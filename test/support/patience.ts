import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    patienceMs: number
  }
}

/** How long a wait may take before it counts as a hang; vitest.config.ts has one for bin/check and one for bin/soak. */
export const PATIENCE_MS = inject('patienceMs')

/** Options of `vi.waitFor`. `expect.poll` has the same by the configuration. */
export const patience = { timeout: PATIENCE_MS, interval: 10 }
