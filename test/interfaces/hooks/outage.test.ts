import { connect, createServer, type Server, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../src/app.js'
import { readConfig } from '../../../src/config.js'
import { openDatabase } from '../../../src/database/pool.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
let gate: Gate
let app: App

beforeAll(async () => {
  database = await createTestDatabase()
  gate = await openGate(database)
  const read = readConfig({ PARLEY_PORT: '0', PARLEY_RATE_LIMIT: '0' })
  if (!read.ok) throw new Error(read.problem)
  const { user = 'postgres', database: name = '' } = database.pool.options
  app = await startApp({
    config: read.config,
    secrets: { adminToken: 'admin', masterKeys: ['key'] },
    log: pino({ level: 'silent' }),
    database: openDatabase({ host: '127.0.0.1', port: gate.port, user, database: name }, 5, () => undefined),
    upstreamUrl: read.config.upstreamUrl,
    simulator: null,
    runWorker: false,
  })
})

afterAll(async () => {
  await app.close()
  await app.ctx.database.close()
  gate.close()
  await database.drop()
})

interface Gate {
  port: number
  close(): void
}

/** A way to the database that can be closed. */
async function openGate({ pool }: TestDatabase): Promise<Gate> {
  const { host = 'localhost', port = 5432 } = pool.options
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    const behind = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    for (const socket of [client, behind]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    }
    client.pipe(behind).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

describe('POST /hooks/upstream, 503', () => {
  it('asks the upstream to repeat while the database is away', async () => {
    const post = () =>
      fetch(`${app.url}/hooks/upstream`, {
        method: 'POST',
        headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
        body: JSON.stringify({ entry: [{ id: '1', changes: [{ field: 'messages', value: {} }] }] }),
      })
    expect((await post()).status).toBe(401)
    gate.close()
    const answer = await post()
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.json()).toMatchObject({ success: false, error: 'Service unavailable', retry_after: 2 })
  })
})
