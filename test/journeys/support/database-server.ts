import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../../src/database/embedded.js'
import type { Connection } from '../../../src/database/pool.js'

/** A PostgreSQL that a test stops and starts again over the same data, under the same address. */
export interface DatabaseServer {
  connection: Connection
  /** Resolves when it has ended; `signal` to its first process: SIGINT fast, SIGQUIT immediate, SIGKILL a crash. */
  stop(signal: NodeJS.Signals): Promise<void>
  start(): Promise<void>
  /** Ends it for good. */
  remove(): Promise<void>
}

/** Starts a server with its data below the folder. */
export async function startDatabaseServer(parent: string): Promise<DatabaseServer> {
  const folder = join(parent, 'postgres')
  const open = () => startEmbeddedDatabase({ folder, settings: { fsync: 'off' } })
  let server: EmbeddedDatabase = await open()
  return {
    connection: server.connection,
    stop: async (signal) => {
      const [pid] = (await readFile(join(folder, 'postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), signal)
      await server.ended
    },
    start: async () => {
      server = await open()
    },
    remove: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
