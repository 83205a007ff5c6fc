import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from './support/programs.js'
import { type Proxied, startProxied, stopInOrder } from './support/proxied.js'
import { hasProxy } from './support/proxies.js'
import { call, type Service } from './support/service.js'

const PLACES = [0, 1]
const installed = (['haproxy', 'nginx', 'caddy'] as const).filter(hasProxy)

// All proxies are in front of the same two processes, so that each restart is made once, and not once for each proxy.
describe.skipIf(installed.length === 0)('two processes behind each of the proxies', () => {
  let proxied: Proxied
  let services: Service[]

  beforeAll(async () => {
    proxied = await startProxied(PLACES, installed)
    expect((await runProgram(['migrate'], { env: proxied.env })).code).toBe(0)
    services = await Promise.all(PLACES.map(start))
  })

  afterAll(() => proxied?.close())

  // As the shipped configurations say.
  const start = (place: number) => proxied.start(place, { PARLEY_DRAIN_SECONDS: '5' })

  it('are restarted one after the other, and every message is sent once', async () => {
    const traffic = await proxied.prepare(services[0] as Service)
    traffic.start()
    for (const place of PLACES) {
      await traffic.goesOn()
      await stopInOrder(services[place] as Service)
      await traffic.goesOn()
      const restarted = await start(place)
      await proxied.isUsed(restarted)
      services[place] = restarted
    }
    await traffic.goesOn()
    await traffic.stop()
    expect([...traffic.failures, ...traffic.unsent]).toEqual([])
    await traffic.isThereOnce()
  })

  it('are answered for in JSON when both are stopped', async () => {
    await Promise.all(services.map(stopInOrder))
    const ask = async ({ name, url }: Proxied['proxies'][number]) => {
      const { status, headers, body } = await call(`${url}/send-chat`, 'POST', { body: {} })
      return { name, status, retryAfter: headers.get('retry-after'), body }
    }
    const problem = { success: false, error: 'Service unavailable', retry_after: 5 }
    expect(await Promise.all(proxied.proxies.map(ask))).toEqual(
      installed.map((name) => ({
        name,
        status: expect.toBeOneOf([502, 503]),
        retryAfter: '5',
        body: { ...problem, message: expect.stringContaining('same Idempotency-Key') },
      })),
    )
  })
})
