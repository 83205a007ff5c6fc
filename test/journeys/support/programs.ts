import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { PATIENCE_MS } from '../../support/patience.js'
import { builtProgram } from './build.js'

/** How a program ended. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** One `parley …` as a process of its own, in a process group of its own. */
export interface Program {
  readonly pid: number
  /** The lines of standard output so far. */
  readonly output: string[]
  /** The lines of standard error so far. */
  readonly errors: string[]
  /** The first line of standard output. Throws when the program ends without one. */
  readonly firstLine: Promise<string>
  readonly exited: Promise<Exit>
  kill(signal: NodeJS.Signals): void
  /** Ends the process group at once, without a chance to tidy up. */
  killGroup(): void
}

/** Further variables of the environment, and the folder to run in. */
export interface ProgramOptions {
  env?: Record<string, string>
  cwd?: string
  /** The path of its main.js; default: that of the sources as they are. */
  main?: string
}

const running = new Set<Program>()
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG']

/** Starts `parley` with these arguments and no PARLEY_ variables but the given ones. */
export async function startProgram(
  args: string[],
  { env = {}, cwd = tmpdir(), main }: ProgramOptions = {},
): Promise<Program> {
  const own = inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  const child = spawn(process.execPath, [main ?? (await builtProgram()), ...args], {
    cwd,
    env: { ...Object.fromEntries(own), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const program = watch(child, args)
  running.add(program)
  program.exited.finally(() => running.delete(program))
  return program
}

/** Runs `parley` to its end. */
export async function runProgram(args: string[], options: ProgramOptions = {}): Promise<Exit & Program> {
  const program = await startProgram(args, options)
  program.firstLine.catch(() => undefined)
  return { ...program, ...(await program.exited) }
}

/** For afterEach and afterAll: ends every program that still runs, in order where it can. */
export async function endPrograms(): Promise<void> {
  await Promise.all([...running].map(end))
}

async function end(program: Program): Promise<void> {
  program.firstLine.catch(() => undefined)
  program.kill('SIGTERM')
  const timer = setTimeout(() => program.killGroup(), PATIENCE_MS)
  await program.exited
  clearTimeout(timer)
}

function watch(child: ChildProcess, args: string[]): Program {
  const { pid, stdout, stderr } = child
  if (pid === undefined || !stdout || !stderr) throw new Error(`parley ${args.join(' ')} could not be started`)
  const output: string[] = []
  const errors: string[] = []
  const outputLines = createInterface({ input: stdout }).on('line', (line) => output.push(line))
  createInterface({ input: stderr }).on('line', (line) => errors.push(line))
  const exited = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }))
  const firstLine = Promise.race([
    once(outputLines, 'line').then(([line]) => String(line)),
    exited.then(({ code, signal }) => {
      if (output[0] !== undefined) return output[0]
      throw new Error(`parley ${args.join(' ')} ended (${code ?? signal}) without a word: ${errors.join('\n')}`)
    }),
  ])
  return {
    pid,
    output,
    errors,
    firstLine,
    exited,
    kill: (name) => void child.kill(name),
    killGroup: () => void (isRunning(child) && process.kill(-pid, 'SIGKILL')),
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}
