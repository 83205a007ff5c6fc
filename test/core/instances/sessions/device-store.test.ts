import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDeviceStore, type DeviceStore } from '../../../../src/core/instances/sessions/device-store.js'
import { type Devices, startDevices, startDeviceWorld, type TestInstance } from '../../../support/devices.js'
import { useStarted } from '../../../support/started.js'

const world = useStarted(startDeviceWorld)
let devices: Devices
let instance: TestInstance
let losses = 0

beforeEach(async () => {
  devices = await startDevices(world)
  instance = await devices.createInstance(false)
  losses = 0
  await giveTo(devices.world.app.ctx.processId)
})

afterEach(() => devices.close())

const query = (text: string, values: unknown[] = []) => devices.world.database.pool.query(text, values)
const giveTo = (processId: number) => query('UPDATE instances SET holder = $2 WHERE id = $1', [instance.id, processId])

function open(of: TestInstance = instance): DeviceStore {
  const onLost = () => {
    losses += 1
  }
  const { organization_id: organizationId, id: instanceId } = of
  return createDeviceStore(devices.world.app.ctx, { organizationId, instanceId, onLost })
}

const key = (id: string, value: string | null, type = 'session') => ({ type, id, value })

describe('the keys of a linked device', () => {
  it('are kept, changed and removed', async () => {
    const store = open()
    expect(await store.load()).toBeNull()
    await store.write({ credentials: 'first', keys: [key('a', '1'), key('b', '2'), key('a', '3', 'pre-key')] })
    await store.write({ credentials: null, keys: [key('a', null), key('b', '4'), key('b', '5'), key('c', '6')] })
    expect(await open().load()).toBe('first')
    expect(await open().readKeys('session', ['a', 'b', 'c', 'd'])).toEqual(
      new Map([
        ['b', '5'],
        ['c', '6'],
      ]),
    )
    expect(await store.readKeys('pre-key', ['a'])).toEqual(new Map([['a', '3']]))
    await store.clear()
    expect(await store.load()).toBeNull()
    expect(await store.readKeys('session', ['b', 'c'])).toEqual(new Map())
  })

  it('are written in the given order', async () => {
    const store = open()
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => store.write({ credentials: `${n}`, keys: [key('a', `${n}`)] })),
    )
    expect(await store.load()).toBe('49')
    expect(await store.readKeys('session', ['a'])).toEqual(new Map([['a', '49']]))
  })

  it('are encrypted, and bound to their instance', async () => {
    await open().write({ credentials: 'secret words', keys: [key('a', 'secret words')] })
    const { rows } = await query(
      'SELECT credentials AS sealed FROM device_credentials UNION ALL SELECT value FROM device_keys',
    )
    expect(rows.map(({ sealed: stored }) => stored.includes('secret'))).toEqual([false, false])
    const other = await devices.createInstance(false)
    await query('UPDATE device_keys SET instance_id = $1', [other.id])
    await expect(open(other).readKeys('session', ['a'])).rejects.toThrow('encrypted for another context')
  })

  it('cannot be changed by a process that has lost the instance', async () => {
    const store = open()
    await store.write({ credentials: 'mine', keys: [key('a', 'mine')] })
    await giveTo(900_001)
    await expect(store.write({ credentials: 'stale', keys: [key('a', 'stale'), key('b', 'stale')] })).rejects.toThrow(
      'Another process',
    )
    await expect(store.clear()).rejects.toThrow()
    await giveTo(devices.world.app.ctx.processId)
    await expect(store.write({ credentials: 'stale', keys: [] })).rejects.toThrow()
    expect(losses).toBe(1)
    expect(await open().load()).toBe('mine')
    expect(await open().readKeys('session', ['a', 'b'])).toEqual(new Map([['a', 'mine']]))
  })

  it('cannot be created by a process that has lost the instance', async () => {
    await open().write({ credentials: 'mine', keys: [] })
    await giveTo(900_001)
    await expect(open().load()).rejects.toThrow('Another process')
    expect(losses).toBe(1)
  })

  it('of another organization cannot be read', async () => {
    await open().write({ credentials: 'mine', keys: [key('a', 'mine')] })
    const other = await devices.world.createOrganization()
    const foreign = open({ ...instance, organization_id: other.id })
    await expect(foreign.load()).rejects.toThrow('Another process')
    expect(await foreign.readKeys('session', ['a'])).toEqual(new Map())
    await expect(foreign.write({ credentials: 'theirs', keys: [] })).rejects.toThrow()
  })

  it('are deleted with the store', async () => {
    const store = open()
    store.close()
    await expect(store.write({ credentials: 'late', keys: [] })).rejects.toThrow('has ended')
    expect(losses).toBe(0)
  })
})
