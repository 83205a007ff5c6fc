import { PassThrough, Readable } from 'node:stream'
import { expect } from 'vitest'
import { runCli } from '../../src/cli/program.js'

/** A command that runs until it is stopped. */
export interface Followed {
  /** Its standard output so far. */
  out(): string
  err(): string
  /** Resolves when standard error contains this. */
  says(what: RegExp): Promise<void>
  /** Resolves when standard output has this number of complete lines, with all of them. */
  lines(count: number): Promise<string[]>
  /** Presses Ctrl-C; resolves to the exit code. */
  end(): Promise<number>
  /** Closes the reader of its output; resolves to the exit code. */
  closeOutput(): Promise<number>
}

/** Starts `parley <args>` in this process. */
export function follow(args: string[], env: Record<string, string>): Followed {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  let out = ''
  let err = ''
  stdout.on('data', (chunk) => {
    out += chunk
  })
  stderr.on('data', (chunk) => {
    err += chunk
  })
  const code = runCli(args, env, { stdin: Readable.from([]), stdout, stderr })
  return {
    out: () => out,
    err: () => err,
    says: (what) => expect.poll(() => err).toMatch(what),
    lines: async (count) => {
      await expect.poll(() => out.split('\n').length - 1).toBeGreaterThanOrEqual(count)
      return out.split('\n').slice(0, -1)
    },
    end: () => {
      process.emit('SIGINT')
      return code
    },
    closeOutput: () => {
      stdout.destroy()
      return code
    },
  }
}
