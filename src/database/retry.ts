import { isDeadlock, isUniqueViolation } from './errors.js'

const MAX_TRIES = 20

/** Does work that changes nothing when it fails, again where it met others that lock the same rows in another order. */
export function retryOnDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  return retry(work, isDeadlock)
}

/** The same, again too where somebody else was faster to take what may be taken once. */
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
