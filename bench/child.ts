import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Cleanup } from './cleanup.js'

/** A child process that serves HTTP. */
export interface Child {
  pid: number
  /** From its ready line. */
  url: string
  /** Milliseconds from the start of the process to its ready line. */
  readyMs: number
  /** Stops it, and resolves when it has ended. */
  stop(): Promise<void>
}

const READY_LINE = / ready on (http:\/\/\S+)$/
const MAX_STOP_MS = 30_000

/**
 * Starts a Node process and waits for its line `… ready on http://…`. `env` contains its only PARLEY_* and PG*
 * variables, so that the caller's environment does not affect the results. Throws if the process ends before it is
 * ready.
 */
export async function startChild(cleanup: Cleanup, args: string[], env: Record<string, string>): Promise<Child> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...foreignEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = () => stopChild(child, exited)
  cleanup.add(stop)
  const url = await readyUrl(child)
  if (url === null || child.pid === undefined) {
    await exited
    throw new Error(`"node ${args.join(' ')}" ended with code ${child.exitCode} before it was ready`)
  }
  return { pid: child.pid, url, readyMs: performance.now() - startedAt, stop }
}

function foreignEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PARLEY_|PG)/.test(name)))
}

async function readyUrl(child: ChildProcess): Promise<string | null> {
  if (!child.stdout) return null
  for await (const line of createInterface({ input: child.stdout })) {
    const url = READY_LINE.exec(line)?.[1]
    if (url !== undefined) return url
  }
  return null
}

async function stopChild(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), MAX_STOP_MS)
  await exited
  clearTimeout(timer)
}
