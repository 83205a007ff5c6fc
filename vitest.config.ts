import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes long: bin/soak runs it, bin/check does not. */
const soak = 'test/**/*.soak.test.ts'

/** These measure the heap of their own process, so each has one for itself. */
const memory = 'test/**/*memory.soak.test.ts'

const MINUTE_MS = 60_000

/**
 * No test depends on how fast the machine is: a wait ends when its condition holds, and its deadline only catches a hang. The
 * deadline of a test is longer than that of all its waits.
 */
const waiting = (patienceMs: number) => ({
  provide: { patienceMs },
  expect: { poll: { interval: 20, timeout: patienceMs } },
  testTimeout: 6 * patienceMs,
  hookTimeout: 6 * patienceMs,
})
const inCheck = waiting(3 * MINUTE_MS)
const inSoak = waiting(10 * MINUTE_MS)

const common = { environment: 'node', pool: 'forks' } as const
/** A worker loads the service once for all its files. To load it for each file took a fifth of a run. */
const shared = { ...common, isolate: false }

/** These take longest, so they begin first: no file runs alone at the end. */
const LONGEST = [
  'refusals',
  'up',
  'looks',
  'four-processes',
  'broadcast-memory',
  'broadcast-kill',
  'webhooks-kill',
  'restore',
  'upgrade',
  'rolling-restarts',
  'send-steps',
  'locks',
  'lifecycle',
  'inbound-kill',
  'broadcast-workers',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.soak.test.ts`))
      return place === -1 ? LONGEST.length : place
    }
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // What has not changed since the last run, or was read by another project, is not transformed again.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/parley-modules' },
    projects: [
      { test: { ...shared, ...inCheck, name: 'tests', include: ['test/**/*.test.ts'], exclude: [soak] } },
      { test: { ...shared, ...inSoak, name: 'soak', include: [soak], exclude: [memory] } },
      { test: { ...common, ...inSoak, name: 'memory', include: [memory] } },
    ],
  },
})
