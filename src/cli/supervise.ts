import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
/** After this time without a fault, the wait before a restart is the shortest again. */
const CALM_MS = 60_000
/** Wrong usage or configuration, which a restart does not fix. */
const WRONG_USAGE = 2

/** The words between supervisor and service. */
export const READY = 'ready'
export const END = 'end'

/** Sends a word to the supervisor, if there is one. */
export function tellSupervisor(word: string): void {
  if (process.argv.includes('--no-restart')) process.send?.(word)
}

/** True if these arguments start a service that is restarted after a fault. */
export function isSupervised(args: readonly string[]): boolean {
  const others = ['--no-restart', '--help', '-h']
  return args[0] === 'up' && !args.some((arg) => others.includes(arg))
}

/**
 * Runs the service in its own process and restarts it after a fault, after waits of 1 s to 30 s. Returns the exit code:
 * the service's own if it was asked to end, was used wrongly, or never became ready. If this process is killed, the
 * service notices and ends in order.
 */
export async function supervise(args: readonly string[]): Promise<number> {
  let child: ChildProcess | null = null
  const stop = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    // The terminal sends Ctrl-C to the service too, so it is asked by a word, which counts once. The second request
    // ends it at once.
    if (stop.signal.aborted) child?.kill(name)
    else if (child?.connected) child.send(END, () => undefined)
    stop.abort()
  }
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, onSignal)

  let wasReady = false
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    const startedAt = performance.now()
    child = start(args)
    child.on('message', (message) => {
      wasReady ||= message === READY
    })
    const { code, signal } = await ended(child)
    if (stop.signal.aborted || code === 0 || code === WRONG_USAGE || !wasReady) return code ?? 1
    if (performance.now() - startedAt > CALM_MS) waitMs = FIRST_WAIT_MS
    const how = signal ?? `exit code ${code}`
    process.stderr.write(`parley: the service ended (${how}); restarting in ${waitMs / 1_000} s\n`)
    await setTimeout(waitMs, null, { signal: stop.signal }).catch(() => null)
    if (stop.signal.aborted) return 0
  }
}

function start(args: readonly string[]): ChildProcess {
  const program = [...process.execArgv, String(process.argv[1]), ...args, '--no-restart']
  return spawn(process.execPath, program, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
}

async function ended(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const [code, signal] = await once(child, 'exit')
  return { code, signal }
}
