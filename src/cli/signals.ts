import { AskedToEnd, EndedByFault } from './failure.js'
import { inOneLine } from './output.js'
import { END } from './supervise.js'

/** Asks a running command to end, by SIGTERM or SIGINT. */
export interface EndRequest {
  /** Aborted, with an AskedToEnd, when the process is asked to end. */
  signal: AbortSignal
  /** Resolves with the name of the signal, or the other reason. */
  asked: Promise<string>
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** After an uncaught error, running requests and jobs get this long to finish. */
const DRAIN_MS = 10_000

/**
 * Runs a command that shuts down in order when it is asked to, even during its start, so that it never leaves a
 * database running. An uncaught error does the same: it is reported in one line, the process ends within 10 s, and an
 * EndedByFault is thrown.
 */
export async function endingInOrder<Result>(command: (endRequest: EndRequest) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  let hasFault = false
  let tell: (name: string) => void = () => undefined
  const asked = new Promise<string>((resolve) => {
    tell = resolve
  })
  const ask = (name: string) => {
    controller.abort(new AskedToEnd(name))
    tell(name)
  }
  const listeners: Record<string, (value: unknown) => void> = {
    uncaughtException: (error: unknown) => {
      if (hasFault) return
      hasFault = true
      setTimeout(() => process.exit(1), DRAIN_MS).unref()
      process.stderr.write(`parley: stopped by an uncaught error: ${inOneLine(stackOf(error).replace(/\s+/g, ' '))}\n`)
      ask('an uncaught error')
    },
    message: (message: unknown) => message === END && ask('the supervisor'),
    disconnect: () => ask('the end of the supervisor'),
  }
  for (const name of SIGNALS) {
    listeners[name] = () => {
      // The second request ends the process at once.
      if (controller.signal.aborted) process.exit(1)
      ask(name)
    }
  }
  for (const [name, listener] of Object.entries(listeners)) process.on(name, listener)
  try {
    const result = await command({ signal: controller.signal, asked })
    if (!hasFault) return result
  } catch (error) {
    if (!hasFault) throw error
  } finally {
    for (const [name, listener] of Object.entries(listeners)) process.off(name, listener)
  }
  throw new EndedByFault()
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
