import { rm } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { runCli } from '../../src/cli/program.js'
import type { Connection } from '../../src/database/pool.js'
import { makeDatabaseFolder } from './database-folder.js'
import { useStarted } from './started.js'

/** The result of a command. */
export interface Result {
  code: number
  out: string
  /** Standard output that is no text. */
  bytes: Buffer
  err: string
  /** Standard output read as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into output of every shape
  json: () => any
}

/** Runs `parley <args>` in this process; `input` is its standard input. */
export async function run(args: string[], env: Record<string, string>, input: string | Buffer = ''): Promise<Result> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const output = Promise.all([buffer(stdout), text(stderr)])
  const code = await runCli(args, env, { stdin: Readable.from([input]), stdout, stderr })
  stdout.end()
  stderr.end()
  const [bytes, err] = await output
  // As fetch reads an answer: without a byte order mark.
  const out = new TextDecoder().decode(bytes)
  return { code, out, bytes, err, json: () => JSON.parse(out) }
}

/** The environment of a command next to the service that a test runs on this database. */
export function besideService(connection: Connection): Record<string, string> {
  return {
    PARLEY_DATABASE_URL: toUrl(connection),
    PARLEY_ADMIN_TOKEN: 'admin-token-of-the-tests',
    PARLEY_SECRET: 'master-key-of-the-tests',
  }
}

/** A folder that is removed by `remove`. */
export async function makeFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await makeDatabaseFolder()
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** A folder for the tests of this file or `describe`. */
export function useFolder(): { path: string } {
  return useStarted(makeFolder, (folder) => folder.remove())
}

/** The connection in the form of PARLEY_DATABASE_URL. */
export function toUrl(connection: Connection): string {
  if ('connectionString' in connection) return connection.connectionString
  const { host, port, user, database } = connection
  return `postgres:///${database}?${new URLSearchParams({ host, port: String(port), user })}`
}
