import { AskedToEnd } from './failure.js'

/** Asks a running command to end, by SIGTERM or SIGINT. */
export interface EndRequest {
  /** Aborted, with an AskedToEnd, when the process is asked to end. */
  signal: AbortSignal
  /** Resolves with the name of the signal that asked. */
  asked: Promise<string>
}

/** From the first moment on: a signal that comes while we start must not leave a database behind. */
export function listenForEndRequest(): EndRequest {
  const controller = new AbortController()
  const asked = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.once(name, () => {
        // Asked twice, the person means it.
        process.once(name, () => process.exit(1))
        controller.abort(new AskedToEnd(name))
        resolve(name)
      })
    }
  })
  return { signal: controller.signal, asked }
}
