import { defineConfig } from 'vitest/config'

const common = {
  environment: 'node',
  pool: 'forks',
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { interval: 20, timeout: 20_000 } },
} as const

/** What takes long: bin/soak runs it, bin/check does not. */
const soak = 'test/**/*.soak.test.ts'

/** These measure the heap of their own process, so each has one for itself. */
const memory = 'test/**/*memory.soak.test.ts'

/** A worker loads the service once for all its files. To load it for each file took a fifth of a run. */
const shared = (name: string, include: string[], exclude: string[]) => ({
  test: { ...common, name, include, exclude, isolate: false },
})

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    maxWorkers: 2,
    // What has not changed since the last run, or was read by another project, is not transformed again.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/parley-modules' },
    projects: [
      shared('tests', ['test/**/*.test.ts'], [soak]),
      shared('soak', [soak], [memory]),
      { test: { ...common, name: 'soak-memory', include: [memory] } },
    ],
  },
})
