import { isDeadlock, isUniqueViolation } from './errors.js'

const MAX_TRIES = 20

/** Retries work after a deadlock, up to 20 attempts; the work must change nothing if it fails. */
export function retryOnDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  return retry(work, isDeadlock)
}

/** Also retries it after a unique violation, which a concurrent transaction may cause. */
export function retryOnConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  return retry(work, (error) => isDeadlock(error) || isUniqueViolation(error))
}

async function retry<Result>(work: () => Promise<Result>, isTransient: (error: unknown) => boolean): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === MAX_TRIES || !isTransient(error)) throw error
    }
  }
}
