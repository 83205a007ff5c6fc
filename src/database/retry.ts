import { isDeadlock, isUniqueViolation } from './errors.js'

const MAX_TRIES = 20

/** Repeats work after a deadlock; the work must change nothing if it fails. */
export function retryOnDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  return retry(work, isDeadlock)
}

/** Also repeats it after a unique violation by a concurrent transaction. */
export function retryOnConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  return retry(work, (error) => isDeadlock(error) || isUniqueViolation(error))
}

async function retry<Result>(work: () => Promise<Result>, isWorthIt: (error: unknown) => boolean): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === MAX_TRIES || !isWorthIt(error)) throw error
    }
  }
}
