import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from './support/programs.js'
import { type Proxied, startProxied, stopInOrder } from './support/proxied.js'
import { hasProxy } from './support/proxies.js'
import { versionBefore } from './support/version-before.js'

const older = await versionBefore()
let proxied: Proxied

beforeAll(async () => {
  if (older !== null && hasProxy('haproxy')) proxied = await startProxied()
})

afterAll(() => proxied?.close())

const runNew = (...args: string[]) => runProgram(args, { env: proxied.env })
const startNew = (place: number) => proxied.start(place, { PARLEY_DRAIN_SECONDS: '2' })
const startOld = (place: number) => proxied.start(place, {}, older ?? '')

describe.skipIf(older === null || !hasProxy('haproxy'))('an upgrade from the version before, under load', () => {
  it('fails no request, loses nothing, does nothing twice, and can be taken back', async () => {
    expect((await runProgram(['migrate'], { env: proxied.env, main: older ?? '' })).code).toBe(0)
    let [one, two] = await Promise.all([startOld(0), startOld(1)])
    const traffic = await proxied.prepare(one)
    traffic.start()
    await traffic.goesOn()

    const migrated = await runNew('migrate')
    expect({ code: migrated.code, errors: migrated.errors }).toEqual({ code: 0, errors: [] })
    await traffic.goesOn()
    const three = await startNew(2)
    const status = await runNew('migrate', '--status', '--json')
    expect(JSON.parse(status.output.join('\n')).processes).toHaveLength(3)
    await stopInOrder(one)
    const four = await startNew(3)
    await stopInOrder(two)
    await traffic.goesOn()

    // And back.
    ;[one, two] = await Promise.all([startOld(0), startOld(1)])
    await stopInOrder(three)
    await traffic.goesOn()
    await stopInOrder(four)
    await traffic.goesOn()
    await traffic.stop()

    expect([...traffic.failures, ...traffic.unsent]).toEqual([])
    await traffic.isThereOnce()
  })
})
