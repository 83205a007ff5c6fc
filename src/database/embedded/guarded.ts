import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Account, cleanEnvironment } from './account.js'

/** A program that ends with this process, even after SIGKILL. */
export interface Guarded {
  /** resolves when the program and all its children have ended; `complaint` is its last message, in one line */
  exited: Promise<Exit>
  /** asks the program to end by SIGINT, which is PostgreSQL's fast shutdown */
  interrupt(): void
}

export interface Exit {
  code: number | null
  complaint: string
}

/**
 * Runs "$@" and interrupts it at the end of standard input, which `interrupt()` or our death causes. It repeats,
 * because a program loses signals until its handlers are set up. Signals that a terminal or service manager sends to
 * all processes are handled by us, after draining.
 */
const WATCHDOG = `
trap '' HUP INT TERM
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
{ read -r end; while kill -INT "$program"; do sleep 1; done; } <&3 >/dev/null 2>&1 &
reader=$!
wait "$program"
code=$?
kill -KILL "$reader"
exit "$code"
`

const KEPT_LINES = 20

/** Starts a program under the account, in its own session. `onLine` gets its standard error. */
export function startGuarded(account: Account, command: string[], onLine: (line: string) => void = () => {}): Guarded {
  const child = spawn('env', [...account.prefix, 'sh', '-c', WATCHDOG, 'parley-database', ...command], {
    ...account.identity,
    cwd: '/',
    env: cleanEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    onLine(line)
  })
  child.stdin.on('error', () => child.stdin.destroy()) // it ended before we closed its input
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, complaint: error.message }))
    child.once('close', (code) => resolve({ code, complaint: findComplaint(lines) }))
  })
  return { exited, interrupt: () => child.stdin.end() }
}

function findComplaint(lines: string[]): string {
  const complaint = lines.findLast((line) => /^(FATAL|PANIC|ERROR):|error:/.test(line)) ?? lines.at(-1)
  return complaint?.trim() ?? 'it said nothing'
}
