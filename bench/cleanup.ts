/** The started processes and created resources, which are stopped and removed in reverse order. */
export interface Cleanup {
  /** `release` may be called twice; the second call must do nothing. */
  add(release: () => Promise<void>): void
  /** May be called more than once, also while it runs: all calls wait for the same run. */
  end(): Promise<void>
}

/** Creates an empty cleanup. It continues after a failure and throws the first one at the end. */
export function createCleanup(): Cleanup {
  const releases: (() => Promise<void>)[] = []
  let running: Promise<void> | undefined
  return {
    add: (release) => void releases.push(release),
    end: () => {
      running ??= releaseAll(releases)
      return running
    },
  }
}

async function releaseAll(releases: (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (let release = releases.pop(); release; release = releases.pop()) {
    await release().catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
