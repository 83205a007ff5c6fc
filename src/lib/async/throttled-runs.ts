/** Runs a function under a key, or returns the result of a recent run. */
export type ThrottledRuns<Result> = (key: string, run: () => Promise<Result>) => Promise<Result>

/** Calls within `keepMs` after the start of a run of the same key share its result. */
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
