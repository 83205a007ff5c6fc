import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../src/app.js'
import { readConfig } from '../../../src/config/read.js'
import { openDatabase } from '../../../src/database/pool.js'
import { createTestDatabase, forAllPurposes, type TestDatabase } from '../../support/database.js'
import { type DatabaseProxy, startProxy } from '../../support/proxy.js'

let database: TestDatabase
let proxy: DatabaseProxy
let app: App

beforeAll(async () => {
  database = await createTestDatabase()
  proxy = await startProxy(database.connection)
  const read = readConfig({ PARLEY_PORT: '0', PARLEY_RATE_LIMIT: '0' })
  if (!read.ok) throw new Error(read.problem)
  app = await startApp({
    config: read.config,
    secrets: { adminToken: 'admin', masterKeys: ['key'] },
    log: pino({ level: 'silent' }),
    databases: forAllPurposes(openDatabase(proxy.connection, 5, () => undefined)),
    upstreamUrl: read.config.upstreamUrl,
    simulator: null,
    runWorker: false,
  })
})

afterAll(async () => {
  await app.close()
  await app.ctx.database.close()
  await proxy.close()
  await database.drop()
})

describe('POST /hooks/upstream, 503', () => {
  it('asks the upstream to retry while the database is down', async () => {
    const post = () =>
      fetch(`${app.url}/hooks/upstream`, {
        method: 'POST',
        headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
        body: JSON.stringify({ entry: [{ id: '1', changes: [{ field: 'messages', value: {} }] }] }),
      })
    expect((await post()).status).toBe(401)
    await proxy.cut()
    const answer = await post()
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.json()).toMatchObject({ success: false, error: 'Service unavailable', retry_after: 2 })
    await proxy.restore()
    expect((await post()).status).toBe(401)
  })
})
