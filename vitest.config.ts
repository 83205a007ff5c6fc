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

/** The folders whose files share processes. */
const groups = {
  core: ['test/core/**/*.test.ts'],
  interfaces: ['test/interfaces/**/*.test.ts'],
  journeys: ['test/journeys/**/*.test.ts'],
}

/**
 * A worker loads the service once for all files of its group: to load it for each took a fifth of a run. What a file leaves in
 * memory stays until the group has ended, so not all of them are one.
 */
const shared = (name: string, include: string[], exclude: string[]) => ({
  test: { ...common, name, include, exclude, isolate: false },
})

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    maxWorkers: 2,
    // What has not changed since the last run, or was read by another group, is not transformed again.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/parley-modules' },
    projects: [
      ...Object.entries(groups).map(([name, include]) => shared(name, include, [soak])),
      shared('rest', ['test/**/*.test.ts'], [soak, ...Object.values(groups).flat()]),
      shared('soak', [soak], [memory]),
      { test: { ...common, name: 'soak-memory', include: [memory] } },
    ],
  },
})
