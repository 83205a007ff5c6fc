/** One try of a job. */
export interface JobAttempt {
  /** The first is 1. A try that a stop of the service cut short counts too, so there may be a few more than were meant. */
  number: number
  /** Aborted when the service stops and cannot wait any longer: the try is then thrown away, and another one follows. */
  signal: AbortSignal
}

/** Resolves as `work` does, or rejects at once when the signal is aborted; the work then goes on with nobody waiting for it. */
export function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    // The signal lives as long as the worker: each try has to take its listener back.
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
