import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
/** Who has run so long before a fault is waited for as after the first one. */
const CALM_MS = 60_000
/** Of a wrong usage or configuration, which no further start mends. */
const WRONG_USAGE = 2

/** What the supervisor and the service tell each other. */
export const READY = 'ready'
export const END = 'end'

/** Tells the supervisor something, where there is one. */
export function tellSupervisor(word: string): void {
  if (process.argv.includes('--no-restart')) process.send?.(word)
}

/** Whether these arguments are those of a service that comes back after a fault. */
export function isSupervised(args: readonly string[]): boolean {
  const others = ['--no-restart', '--help', '-h']
  return args[0] === 'up' && !args.some((arg) => others.includes(arg))
}

/**
 * Runs the service in a process of its own, and starts it again when a fault ends it, after waits that grow from 1 s to 30 s. Resolves
 * to the exit code: the service's own where it was asked to end, where it is used wrongly, and where it never became ready. Should this
 * process be killed, the service hears of it and ends in order.
 */
export async function supervise(args: readonly string[]): Promise<number> {
  let child: ChildProcess | null = null
  const stop = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    // Of a terminal's Ctrl-C the service hears itself, so it is told in words, which count once. Asked twice, the person means it.
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
