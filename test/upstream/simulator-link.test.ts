import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp } from '../../src/app.js'
import { readConfig } from '../../src/config/read.js'
import { connectOwnUpstream } from '../../src/core/organizations/connections.js'
import { isSimulator } from '../../src/upstream/simulator-link.js'
import { forAllPurposes } from '../support/database.js'
import { type Answering, type HttpServer, json, startHttpServer } from '../support/http-server.js'
import { useWorld } from '../support/world.js'

const world = useWorld()

const controlOf = ({ url }: { url: string }) => ({ controlUrl: `${url}/_sim`, token: null })

describe('isSimulator', () => {
  it('is true for a simulator', async () => {
    expect(await isSimulator(controlOf(world.simulator))).toBe(true)
  })

  it.each<[string, Answering]>([
    ['refuses', json(404, { error: { message: 'Unknown path components: /_sim' } })],
    ['answers anything', json(200, { success: true })],
    ['answers with a page', (_request, response) => response.end('<html>')],
    ['ends the connection', (_request, response) => response.destroy()],
  ])('is false for another server that %s', async (_what, answer) => {
    const server = await startHttpServer(answer)
    expect(await isSimulator(controlOf(server))).toBe(false)
    await server.close()
    expect(await isSimulator(controlOf(server))).toBe(false)
  })
})

describe('a proxy to the upstream on this machine', () => {
  let proxy: HttpServer

  beforeAll(async () => {
    proxy = await startHttpServer(json(400, { error: { code: 190, message: 'Invalid OAuth access token' } }))
  })
  afterAll(() => proxy.close())

  it('gets no credentials, and owners must prove their numbers', async () => {
    const read = readConfig({
      PARLEY_PORT: '0',
      PARLEY_UPSTREAM_URL: `${proxy.url}/v23.0`,
      PARLEY_DATA_DIR: world.dataDir,
    })
    if (!read.ok) throw new Error(read.problem)
    const organization = await world.createOrganization()
    const app = await startApp({
      config: read.config,
      secrets: { adminToken: world.adminToken, masterKeys: ['master-key-of-the-tests'] },
      log: pino({ level: 'silent' }),
      databases: forAllPurposes(world.database),
      upstreamUrl: read.config.upstreamUrl,
      simulator: { ...controlOf(proxy), passesOn: false },
      runWorker: false,
    })
    const changes = {
      phone_number_id: '777',
      business_account_id: '888',
      access_token: 'a-guess',
      app_secret: 'a-secret',
    }
    const tenant = { id: organization.id, upstream: null } as Parameters<typeof connectOwnUpstream>[1]
    await expect(connectOwnUpstream(app.ctx, tenant, changes)).rejects.toMatchObject({ code: 'upstream_credentials' })
    await app.close()
    const toControl = proxy.taken.filter(({ path }) => path.startsWith('/_sim'))
    expect(toControl.length).toBeGreaterThan(0)
    expect(toControl.every(({ method, path }) => method === 'GET' && path === '/_sim/settings')).toBe(true)
    expect(proxy.taken.some(({ path }) => path.startsWith('/v23.0/777'))).toBe(true)
  })
})
