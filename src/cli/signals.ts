import { AskedToEnd } from './failure.js'

/** Asks a running command to end, by SIGTERM or SIGINT. */
export interface EndRequest {
  /** Aborted, with an AskedToEnd, when the process is asked to end. */
  signal: AbortSignal
  /** Resolves with the name of the signal that asked. */
  asked: Promise<string>
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Runs a command that ends in order when it is asked to: from its first moment on, so that it never leaves a database behind. */
export async function endingInOrder<Result>(command: (endRequest: EndRequest) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  let tell: (name: string) => void = () => undefined
  const asked = new Promise<string>((resolve) => {
    tell = resolve
  })
  const onSignal = (name: string) => {
    // Asked twice, the person means it.
    if (controller.signal.aborted) process.exit(1)
    controller.abort(new AskedToEnd(name))
    tell(name)
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  try {
    return await command({ signal: controller.signal, asked })
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal)
  }
}
