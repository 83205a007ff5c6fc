import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from './support/programs.js'
import { type Proxied, startProxied, stopInOrder } from './support/proxied.js'
import { hasProxy } from './support/proxies.js'

/** The roles of the four places. */
const ROLES = ['api', 'api,worker', 'worker,gateway', 'api,worker,gateway']

let proxied: Proxied

beforeAll(async () => {
  if (!hasProxy('haproxy')) return
  const servesApi = ROLES.map((roles, place) => (roles.includes('api') ? place : -1))
  proxied = await startProxied(servesApi)
  expect((await runProgram(['migrate'], { env: proxied.env })).code).toBe(0)
})

afterAll(() => proxied?.close())

const start = (place: number) => proxied.start(place, { PARLEY_ROLES: ROLES[place] ?? '', PARLEY_DRAIN_SECONDS: '2' })

// Where its 80 s go, on two processors: twelve starts take 4 to 8 s each beside three processes and the clients (2 s if nothing
// else runs), the clients' 20 rounds after a kill 1.5 s, and the last work of all is done 0.7 s after the last request.
describe.skipIf(!hasProxy('haproxy'))('four processes of different roles behind a proxy', () => {
  it('can be restarted one by one, and killed one by one', async () => {
    const services = await Promise.all(ROLES.map((_roles, place) => start(place)))
    const traffic = await proxied.prepare(services[0] as (typeof services)[number])
    traffic.start()
    await traffic.goesOn()

    for (const [place, service] of services.entries()) {
      await stopInOrder(service)
      services[place] = await start(place)
    }
    await traffic.goesOn()
    expect([...traffic.failures, ...traffic.unsent]).toEqual([])

    for (const [place, { program }] of services.entries()) {
      program.killGroup()
      expect(await program.exited).toEqual({ code: null, signal: 'SIGKILL' })
      await traffic.goesOn()
      services[place] = await start(place)
    }
    await traffic.stop()

    // Whether a send of a killed process was accepted is not known at first; the callbacks settle it.
    for (const { problem } of traffic.unsent) expect(problem).toMatch(/Outcome unknown/)
    expect(traffic.failures).toEqual([])
    await traffic.isThereOnce()
  })
})
