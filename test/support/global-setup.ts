import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedDatabase } from '../../src/database/embedded.js'
import { migrate } from '../../src/database/migrations/apply.js'
import { type Connection, openDatabase } from '../../src/database/pool.js'
import { chromiumPath, NO_CHROMIUM } from './chromium.js'
import { makeDatabaseFolder, removeLeftovers } from './database-folder.js'
import { hasFfmpeg, NO_FFMPEG } from './ffmpeg.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server with the databases of this run. */
    server: Connection
    /** The migrated database that each test file copies. */
    template: string
  }
}

/** Two journeys at a time, each with several processes of 20 connections. */
const MAX_CONNECTIONS = '300'

/**
 * One PostgreSQL for the whole run: the embedded one, or the one at PARLEY_TEST_DATABASE_URL (as superuser, on a server
 * without valuable data). Its migrated template is copied for each test file.
 */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  if (chromiumPath === null) process.stderr.write(`${NO_CHROMIUM}\n`)
  if (!hasFfmpeg) process.stderr.write(`${NO_FFMPEG}\n`)
  const url = process.env.PARLEY_TEST_DATABASE_URL
  const { connection, stop } =
    url === undefined ? await startEmbedded() : { connection: { connectionString: url }, stop: async () => undefined }
  const template = `parley_template_${process.pid}`
  await makeTemplate(connection, template)
  provide('server', connection)
  provide('template', template)
  return async () => {
    await onServer(connection, `DROP DATABASE IF EXISTS ${template}`)
    await stop()
  }
}

async function startEmbedded(): Promise<{ connection: Connection; stop: () => Promise<void> }> {
  await removeLeftovers()
  const folder = await makeDatabaseFolder()
  // Tests that only kill processes do not need durable disk writes.
  const settings = { fsync: 'off', max_wal_size: '512MB', max_connections: MAX_CONNECTIONS }
  const server = await startEmbeddedDatabase({ folder: join(folder, 'postgres'), settings })
  return {
    connection: server.connection,
    stop: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function makeTemplate(server: Connection, name: string): Promise<void> {
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  const database = openDatabase(onDatabase(server, name), 4, () => undefined)
  await migrate(database.pool)
  await database.close()
}

async function onServer(server: Connection, command: string): Promise<void> {
  const database = openDatabase(server, 1, () => undefined)
  await database.pool.query(command)
  await database.close()
}

/** The URL of another database on the same server. */
export function onDatabase(server: Connection, name: string): Connection {
  if (!('connectionString' in server)) return { ...server, database: name }
  const url = new URL(server.connectionString)
  url.pathname = `/${name}`
  return { connectionString: url.href }
}
