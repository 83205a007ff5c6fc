/** Runs something under a key, or shares a run of it. */
export type ThrottledRuns<Result> = (key: string, run: () => Promise<Result>) => Promise<Result>

/** Who asks within `keepMs` after a run of the same key has begun gets what comes, or came, of it. `clock` tells the time. */
export function createThrottledRuns<Result>(keepMs: number, clock: () => Date): ThrottledRuns<Result> {
  const runs = new Map<string, { begunAt: number; result: Promise<Result> }>()
  return (key, run) => {
    const now = clock().getTime()
    const isKept = ({ begunAt }: { begunAt: number }) => now - begunAt < keepMs
    const kept = runs.get(key)
    if (kept && isKept(kept)) return kept.result
    for (const [other, past] of runs) if (!isKept(past)) runs.delete(other)
    const result = run()
    runs.set(key, { begunAt: now, result })
    return result
  }
}
