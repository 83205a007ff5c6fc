import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requireLinkedLibrary } from '../../../../src/core/instances/library/linked-library.js'
import { recordCode, recordState } from '../../../../src/core/instances/manage/connection-state.js'
import { deleteOrganization, deleteOrganizationData } from '../../../../src/core/maintenance/organization-deletion.js'
import { logOutInstance, setInstanceWanted } from '../../../../src/storage/instances/instances.js'
import {
  type Devices,
  type Process,
  startDevices,
  startDeviceWorld,
  type TestInstance,
} from '../../../support/devices.js'
import { type Held, hold, untilWaiting } from '../../../support/locks.js'
import { PATIENCE_MS } from '../../../support/patience.js'
import { useStarted } from '../../../support/started.js'

const world = useStarted(startDeviceWorld)
let devices: Devices
let held: Held | null = null

beforeEach(async () => {
  devices = await startDevices(world)
})

afterEach(async () => {
  await held?.release()
  held = null
  const { faults } = devices.network
  await devices.close()
  expect(faults).toEqual([])
})

const numberOf = (index: number) => `551196020${String(1_000 + index)}`

/** Linked devices, numbered by their index. */
async function linkSome(count: number): Promise<TestInstance[]> {
  const instances: TestInstance[] = []
  for (let index = 0; index < count; index++) {
    const instance = await devices.createInstance()
    await devices.link(instance, numberOf(index))
    instances.push(instance)
  }
  return instances
}

async function holdersOf(instances: readonly TestInstance[]): Promise<(number | null)[]> {
  return Promise.all(instances.map(async (instance) => (await devices.rowOf(instance)).holder))
}

const connectedNumbers = () =>
  devices.network
    .connections()
    .map(({ number }) => number)
    .sort()

const query = (text: string, values: unknown[]) => devices.world.database.pool.query(text, values)

const openBy = (process: Process, count: number) =>
  expect.poll(() => process.sessions.figures()).toEqual({ held: count, open: count })

describe('a process', () => {
  it('connects a linked device that is wanted, shows its code, and keeps its session', async () => {
    const process = await devices.startProcess()
    const instance = await devices.createInstance()
    await devices.link(instance, numberOf(0))
    await openBy(process, 1)
    expect(await devices.rowOf(instance)).toMatchObject({ state: 'open', wanted: true, holder: process.id })
    const { rows } = await query('SELECT type FROM events WHERE type LIKE $1 ORDER BY seq', ['instance.%'])
    const types = rows.map(({ type }) => type)
    expect(types).toContain('instance.qrcode')
    expect(types.at(-1)).toBe('instance.state')
    expect(devices.network.countConnections(numberOf(0))).toBe(1)
  })

  it('ignores instances that are unwanted or held by another process', async () => {
    await devices.startProcess()
    const unwanted = await devices.createInstance(false)
    const foreign = await devices.createInstance(false)
    await query(
      `UPDATE instances SET wanted = true, holder = 999999, held_until = now() + interval '1 hour' WHERE id = $1`,
      [foreign.id],
    )
    const [linked] = await linkSome(1)
    expect(await devices.rowOf(linked as TestInstance)).toMatchObject({ state: 'open' })
    expect(await devices.rowOf(unwanted)).toMatchObject({ holder: null, state: 'close' })
    expect(await devices.rowOf(foreign)).toMatchObject({ holder: 999999, state: 'close' })
  })

  it('takes an instance with an expired lease', async () => {
    const instance = await devices.createInstance(false)
    await query(
      `UPDATE instances SET wanted = true, holder = 999999, held_until = now() - interval '1 second' WHERE id = $1`,
      [instance.id],
    )
    const process = await devices.startProcess()
    await expect.poll(() => devices.rowOf(instance)).toMatchObject({ holder: process.id })
  })

  it('disconnects an instance that is no longer wanted, and releases it', async () => {
    const process = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    await query('UPDATE instances SET wanted = false WHERE id = $1', [instance.id])
    await expect.poll(() => devices.rowOf(instance)).toMatchObject({ holder: null })
    await expect.poll(connectedNumbers).toEqual([])
    await expect.poll(() => process.sessions.figures()).toEqual({ held: 0, open: 0 })
    await query('UPDATE instances SET wanted = true WHERE id = $1', [instance.id])
    await openBy(process, 1)
  })

  it('disconnects a deleted instance', async () => {
    const process = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    await query('DELETE FROM instances WHERE id = $1', [instance.id])
    await expect.poll(() => process.sessions.figures()).toEqual({ held: 0, open: 0 })
    await expect.poll(connectedNumbers).toEqual([])
  })

  it('does not reconnect a session that the network has ended', async () => {
    const process = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    devices.network.drop(numberOf(0), 440)
    await expect
      .poll(() => devices.rowOf(instance))
      .toMatchObject({ state: 'close', state_code: 440, wanted: false, holder: null })
    await expect.poll(() => process.sessions.figures()).toEqual({ held: 0, open: 0 })
  })

  it('keeps an instance that is asked to connect again before its end has been recorded', async () => {
    const process = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    let record = () => {}
    const recorded = new Promise<void>((resolve) => {
      record = resolve
    })
    process.delay('instances.changeState', recorded)
    devices.network.drop(numberOf(0), 440)
    await expect.poll(connectedNumbers).toEqual([])
    const answer = process.device(instance)({ verb: 'restart' }, PATIENCE_MS)
    await expect.poll(connectedNumbers).toEqual([numberOf(0)])
    record()
    expect(await answer).toEqual({ outcome: 'done', value: null })
    await expect.poll(() => devices.rowOf(instance)).toMatchObject({ state: 'open' })
    const rounds = process.ran('instanceLeases.renew')
    await expect.poll(() => process.ran('instanceLeases.renew')).toBeGreaterThan(rounds + 2)
    expect(await devices.rowOf(instance)).toMatchObject({ state: 'open', wanted: true, holder: process.id })
    expect(devices.network.countConnections(numberOf(0))).toBe(2)
  })

  it('reconnects an instance on a request right after it was logged out', async () => {
    const process = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    const device = process.device(instance)
    expect(await device({ verb: 'logout' }, PATIENCE_MS)).toEqual({ outcome: 'done', value: null })
    await setInstanceWanted(devices.world.database, instance.organization_id, instance.id, true)
    const answer = await device({ verb: 'connect', number: null }, PATIENCE_MS)
    expect(answer).toMatchObject({ outcome: 'done', value: { code: expect.stringContaining('code 2 of') } })
  })

  it('stores incoming events as callbacks of their instance', async () => {
    await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    devices.network.push(numberOf(0), { id: 'IN1', from: '5511960209001', text: 'hello' })
    await expect
      .poll(async () => (await query('SELECT instance_id, body FROM callbacks', [])).rows)
      .toEqual([{ instance_id: instance.id, body: expect.any(Buffer) }])
    const { rows } = await query('SELECT body FROM callbacks', [])
    expect(JSON.parse(rows[0].body)).toMatchObject({
      object: 'linked_device',
      events: [{ type: 'message', key: { id: 'IN1' }, message: { conversation: 'hello' } }],
    })
  })
})

describe('an incoming event that cannot be recorded', () => {
  const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON callbacks FOR EACH ROW EXECUTE FUNCTION refuse()`
  const stopRefusing = 'DROP FUNCTION IF EXISTS refuse CASCADE'

  afterEach(() => query(stopRefusing, []))
  const received = async () => (await query('SELECT instance_id FROM callbacks', [])).rows

  it('is recorded later by the process that then holds the instance', async () => {
    const process = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    await query(refuse, [])
    devices.network.push(numberOf(0), { id: 'IN1', from: '5511960209001', text: 'hello' })
    await expect.poll(() => devices.network.undelivered()).toEqual([])
    await query('UPDATE instances SET wanted = false WHERE id = $1', [instance.id])
    await expect.poll(() => process.sessions.figures()).toEqual({ held: 0, open: 0 })
    expect(await received()).toEqual([])
    await query(stopRefusing, [])
    await expect.poll(received).toEqual([{ instance_id: instance.id }])
  })

  it('is logged as lost if the process ends', async () => {
    const lines: string[] = []
    const log = pino({ level: 'error' }, { write: (line) => lines.push(line) })
    const process = await devices.startProcess({ log })
    await linkSome(1)
    await query(refuse, [])
    devices.network.push(numberOf(0), { id: 'IN1', from: '5511960209001', text: 'hello' })
    await expect.poll(() => devices.network.undelivered()).toEqual([])
    await process.sessions.stop()
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ messageId: 'IN1' }])
  })
})

describe('the state of an instance', () => {
  it('is reported only by the process that holds it', async () => {
    const instance = await devices.createInstance(false)
    await query(`UPDATE instances SET holder = 900001, held_until = 'infinity' WHERE id = $1`, [instance.id])
    const { ctx } = devices.world.app
    await recordState(ctx, instance, { state: 'connecting' }, 900_002)
    await recordCode(ctx, instance, { code: 'x', pairingCode: null, count: 3 }, 900_002)
    expect(await devices.rowOf(instance)).toMatchObject({ state: 'close' })
    await recordCode(ctx, instance, { code: 'x', pairingCode: null, count: 3 }, 900_001)
    expect(await devices.rowOf(instance)).toMatchObject({ state: 'connecting' })
    await recordState(ctx, instance, { state: 'close', code: 440 }, 900_001)
    expect(await devices.rowOf(instance)).toMatchObject({ state: 'close', state_code: 440 })
  })

  it('is reported once if an instance is logged out', async () => {
    await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    const { database } = devices.world
    expect(await devices.world.app.ctx.devices(instance)({ verb: 'logout' }, PATIENCE_MS)).toMatchObject({
      outcome: 'done',
    })
    await logOutInstance(database, instance.organization_id, instance.id)
    const closes = await query(
      `SELECT type FROM events WHERE type = 'instance.logged_out' OR data #>> '{connection,statusReason}' = '401' ORDER BY seq`,
      [],
    )
    expect(closes.rows).toEqual([{ type: 'instance.state' }, { type: 'instance.logged_out' }])
    await recordState(devices.world.app.ctx, instance, { state: 'open' })
    await logOutInstance(database, instance.organization_id, instance.id)
    expect(await devices.rowOf(instance)).toMatchObject({ state: 'close', state_code: 401, wanted: false })
  })
})

describe('a released session', () => {
  it('is not started again here before the release has been written', async () => {
    const process = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    let written = () => {}
    const release = new Promise<void>((resolve) => {
      written = resolve
    })
    process.delay('instanceLeases.release', release)
    await query('UPDATE instances SET wanted = false WHERE id = $1', [instance.id])
    await expect.poll(connectedNumbers).toEqual([])
    await query('UPDATE instances SET wanted = true WHERE id = $1', [instance.id])
    const rounds = process.ran('instanceLeases.renew')
    await expect.poll(() => process.ran('instanceLeases.renew')).toBeGreaterThan(rounds + 2)
    expect(devices.network.countConnections(numberOf(0))).toBe(1)
    written()
    await openBy(process, 1)
    expect(devices.network.countConnections(numberOf(0))).toBe(2)
  })
})

describe('two processes', () => {
  it('run the same number of sessions each, every one connected once', async () => {
    const [one, other] = [await devices.startProcess(), await devices.startProcess()]
    await linkSome(4)
    await openBy(one, 2)
    await openBy(other, 2)
    await expect.poll(connectedNumbers).toEqual([0, 1, 2, 3].map(numberOf))
    for (const index of [0, 1, 2, 3]) expect(devices.network.countConnections(numberOf(index))).toBe(1)
  })

  it('share the sessions that one of them had before the other started', async () => {
    const one = await devices.startProcess()
    await linkSome(3)
    await openBy(one, 3)
    const other = await devices.startProcess()
    await openBy(one, 2)
    await openBy(other, 1)
    await expect.poll(connectedNumbers).toEqual([0, 1, 2].map(numberOf))
  })

  it('take over from each other at once when one stops', async () => {
    const one = await devices.startProcess()
    const instances = await linkSome(3)
    const other = await devices.startProcess()
    await one.sessions.stop()
    await openBy(other, 3)
    expect(await holdersOf(instances)).toEqual([other.id, other.id, other.id])
    await expect.poll(connectedNumbers).toEqual([0, 1, 2].map(numberOf))
  })

  it('disconnect sessions that the other one has taken, and change none of their keys', async () => {
    const one = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    await query(`UPDATE instances SET holder = 999999, held_until = now() + interval '1 hour' WHERE id = $1`, [
      instance.id,
    ])
    await expect.poll(() => one.sessions.figures()).toEqual({ held: 0, open: 0 })
    await expect.poll(connectedNumbers).toEqual([])
    const { rows } = await query('SELECT count(*) FROM device_keys', [])
    expect(rows).toEqual([{ count: 0 }])
  })
})

describe('while an organization is deleted, which takes long', () => {
  /** Runs a device of an organization to be deleted, and one of another organization. */
  async function linkTwo(): Promise<{ process: Process; deleted: TestInstance }> {
    const process = await devices.startProcess()
    const [deleted] = (await linkSome(1)) as [TestInstance]
    const other = await devices.world.createOrganization()
    await devices.link(await devices.createInstance(true, other), numberOf(1))
    return { process, deleted }
  }

  /** This number of rounds takes longer than a lease lasts. */
  async function letLeasesEnd(process: Process): Promise<void> {
    const rounds = process.ran('instanceLeases.renew')
    await expect.poll(() => process.ran('instanceLeases.renew')).toBeGreaterThan(rounds + 25)
  }

  const holdRows = (table: string) =>
    hold(devices.world.database, `SELECT FROM ${table} WHERE organization_id = $1 FOR UPDATE`, [
      devices.organization.id,
    ])

  it('its devices are disconnected, and those of others stay connected while its rows are deleted', async () => {
    const { process, deleted } = await linkTwo()
    const { ctx } = devices.world.app
    held = await holdRows('events')
    await deleteOrganization(ctx, deleted.organization_id)
    const deletion = deleteOrganizationData(ctx, deleted.organization_id, false)
    await untilWaiting(devices.world.database, 1)
    await letLeasesEnd(process)
    await expect.poll(connectedNumbers).toEqual([numberOf(1)])
    expect(devices.network.countConnections(numberOf(1))).toBe(1)
    await held.release()
    await deletion
    expect(await devices.rowOf(deleted)).toBeUndefined()
  })

  it('devices of others stay connected while its first step waits, and its own are not connected afterwards', async () => {
    const { process, deleted } = await linkTwo()
    held = await holdRows('api_keys')
    const deletion = deleteOrganization(devices.world.app.ctx, deleted.organization_id)
    await untilWaiting(devices.world.database, 1)
    await letLeasesEnd(process)
    expect(devices.network.countConnections(numberOf(1))).toBe(1)
    await held.release()
    await deletion
    await expect.poll(connectedNumbers).toEqual([numberOf(1)])
    await query('UPDATE instances SET wanted = true WHERE id = $1', [deleted.id])
    await letLeasesEnd(process)
    expect(connectedNumbers()).toEqual([numberOf(1)])
    expect(devices.network.countConnections(numberOf(1))).toBe(1)
  })
})

describe('a process that cannot renew its leases', () => {
  it('disconnects on its own before they expire, and reconnects when it can', async () => {
    const process = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    held = await hold(devices.world.database, 'SELECT FROM instances WHERE id = $1 FOR NO KEY UPDATE', [instance.id])
    await expect.poll(connectedNumbers).toEqual([])
    const { rows } = await query('SELECT held_until > now() AS lasts FROM instances WHERE id = $1', [instance.id])
    expect(rows).toEqual([{ lasts: true }])
    expect(await process.device(instance)({ verb: 'set_presence', presence: 'available' }, 300)).toMatchObject({
      outcome: 'not_open',
    })
    await held.release()
    await openBy(process, 1)
    await expect.poll(connectedNumbers).toEqual([numberOf(0)])
  })
})

describe('without the library', () => {
  it('nothing starts, and every command says what to install', async () => {
    const instance = await devices.createInstance()
    const process = await devices.startProcess({ hasLibrary: false })
    const missing = expect.stringContaining('npm install --prefix /opt/linked-devices baileys@7.0.0-rc14')
    expect(await process.device(instance)({ verb: 'restart' }, PATIENCE_MS)).toEqual({
      outcome: 'unsupported',
      text: missing,
    })
    await expect(requireLinkedLibrary(process.ctx)).rejects.toMatchObject({ code: 'not_supported', message: missing })
    expect(await devices.rowOf(instance)).toMatchObject({ holder: null })
  })

  it('a process passes commands on to another one that has it', async () => {
    const other = await devices.startProcess()
    const [instance] = (await linkSome(1)) as [TestInstance]
    const process = await devices.startProcess({ hasLibrary: false })
    await requireLinkedLibrary(process.ctx)
    const answer = await process.device(instance)({ verb: 'set_presence', presence: 'available' }, PATIENCE_MS)
    expect(answer).toMatchObject({ outcome: 'done' })
    expect(other.sessions.figures()).toEqual({ held: 1, open: 1 })
  })
})
