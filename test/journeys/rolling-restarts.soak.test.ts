import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from './support/programs.js'
import { type Proxied, startProxied, stopInOrder } from './support/proxied.js'
import { hasProxy } from './support/proxies.js'
import { call, type Service } from './support/service.js'

const PLACES = [0, 1]

describe.each((['haproxy', 'nginx', 'caddy'] as const).filter(hasProxy))('two processes behind %s', (name) => {
  let proxied: Proxied
  let services: Service[]

  beforeAll(async () => {
    proxied = await startProxied(PLACES, name)
    expect((await runProgram(['migrate'], { env: proxied.env })).code).toBe(0)
    services = await Promise.all(PLACES.map(start))
  })

  afterAll(() => proxied?.close())

  // As the shipped configurations say.
  const start = (place: number) => proxied.start(place, { PARLEY_DRAIN_SECONDS: '5' })

  it('are restarted one after the other, and every message is sent once', async () => {
    const traffic = await proxied.prepare(services[0] as Service)
    traffic.start()
    await traffic.goesOn()
    for (const place of PLACES) {
      await stopInOrder(services[place] as Service)
      await traffic.goesOn()
      services[place] = await start(place)
      await traffic.goesOn()
    }
    await traffic.stop()
    expect([...traffic.failures, ...traffic.unsent]).toEqual([])
    await traffic.isThereOnce()
  })

  it('are answered for in JSON when both are stopped', async () => {
    await Promise.all(services.map(stopInOrder))
    const answer = await call(`${proxied.url}/send-chat`, 'POST', { body: {} })
    expect(answer.status).toBeOneOf([502, 503])
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(answer.body).toMatchObject({ success: false, error: 'Service unavailable', retry_after: 5 })
  })
})
