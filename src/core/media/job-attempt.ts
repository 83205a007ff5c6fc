export interface JobAttempt {
  /** The first is 1. Tries that a shutdown interrupted count too, so there may be a few more than configured. */
  number: number
  /** Aborted when the service stops and cannot wait: the try is discarded, and another one follows. */
  signal: AbortSignal
}

/** Resolves like `work`, but rejects as soon as the signal is aborted; the work continues in the background. */
export function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    // The signal lives as long as the worker, so each try must remove its listener.
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
