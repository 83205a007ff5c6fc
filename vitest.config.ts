import { defineConfig } from 'vitest/config'

const common = {
  environment: 'node',
  pool: 'forks',
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { interval: 20, timeout: 20_000 } },
} as const

/** These measure the heap of their own process, so each has one for itself. */
const memory = 'test/**/*memory.test.ts'

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    maxWorkers: 2,
    projects: [
      // A worker loads the service once for all its files: to load it anew for each took a fifth of a run. The limit makes it
      // collect garbage instead of growing to gigabytes.
      {
        test: {
          ...common,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [memory],
          isolate: false,
          execArgv: ['--max-old-space-size=1024'],
        },
      },
      { test: { ...common, name: 'alone', include: [memory] } },
    ],
  },
})
