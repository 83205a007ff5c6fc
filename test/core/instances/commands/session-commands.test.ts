import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Device, DeviceAnswer, DeviceCommand } from '../../../../src/channels/device.js'
import { type CommandLoop, startCommandLoop } from '../../../../src/core/instances/commands/command-loop.js'
import { encryptForProcess } from '../../../../src/core/instances/commands/encrypted-command.js'
import { createSessionCommands } from '../../../../src/core/instances/commands/session-commands.js'
import { expireOutcomes } from '../../../../src/core/maintenance/maintenance.js'
import type { Borrowed } from '../../../../src/database/connections.js'
import { queryable } from '../../../../src/database/queryable.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import { packageVersion } from '../../../../src/lib/files/package-version.js'
import { answerCommand, insertCommand, takeAnswers } from '../../../../src/storage/instances/commands.js'
import { registerProcessAgain } from '../../../../src/storage/processes/process-registry.js'
import {
  type Devices,
  type Process,
  startDevices,
  startDeviceWorld,
  type TestInstance,
} from '../../../support/devices.js'
import { hold } from '../../../support/locks.js'
import { PATIENCE_MS } from '../../../support/patience.js'
import { useStarted } from '../../../support/started.js'

const COMMAND: DeviceCommand = { verb: 'check_numbers', numbers: ['5511960300001', 'a\u0000b'] }
const DONE: DeviceAnswer = { outcome: 'done', value: [] }

const world = useStarted(startDeviceWorld)
let devices: Devices
let instance: TestInstance
let asking: Process
let owners: CommandLoop[]
/** Each holds the lock of a process. */
let connections: Borrowed[]

const noEvents = () => {}

beforeEach(async () => {
  devices = await startDevices(world)
  instance = await devices.createInstance(false)
  asking = await devices.startProcess({ hasLibrary: false })
  owners = []
  connections = []
})

afterEach(async () => {
  await Promise.all(owners.map((owner) => owner.stop()))
  for (const { giveBack } of connections) giveBack(new Error('the process ends'))
  await devices.close()
})

const query = (text: string, values: unknown[] = []) => devices.world.database.pool.query(text, values)

/** Adds a process that holds the instance and answers its commands in this way; resolves to the received commands. */
async function own(processId: number, device: Device, holds = true): Promise<DeviceCommand[]> {
  const done: DeviceCommand[] = []
  const find = (): Device => (command, timeoutMs) => {
    done.push(command)
    return device(command, timeoutMs)
  }
  if (holds) await giveTo(processId)
  await announce(processId)
  owners.push(startCommandLoop({ ...asking.ctx, processId }, { find, running: () => [instance] }))
  return done
}

const giveTo = (processId: number) =>
  query(`UPDATE instances SET wanted = true, holder = $2, held_until = now() + interval '1 hour' WHERE id = $1`, [
    instance.id,
    processId,
  ])

/** Registers a process that runs linked devices until the end of the test; dead ones are removed every second. */
async function announce(processId: number): Promise<void> {
  const connection = await devices.world.database.borrow(null)
  connections.push(connection)
  await registerProcessAgain(
    queryable((statement) => connection.client.query(statement), noEvents),
    processId,
    packageVersion,
  )
  await query(`UPDATE processes SET devices_until = 'infinity' WHERE id = $1`, [processId])
}

const rows = async () => (await query('SELECT begun_at FROM instance_commands')).rows

describe('a command to a device of another process', () => {
  it('runs there once, and leaves no row behind', async () => {
    const done = await own(900_001, async () => DONE)
    expect(await asking.device(instance)(COMMAND, PATIENCE_MS)).toEqual(DONE)
    expect(done).toEqual([{ verb: 'check_numbers', numbers: ['5511960300001', 'a\uFFFDb'] }])
    expect(await rows()).toEqual([])
  })

  it('runs only in the process that holds the instance', async () => {
    const stale = await own(900_002, async () => DONE, false)
    const done = await own(900_001, async () => DONE)
    const answers = await Promise.all(Array.from({ length: 20 }, () => asking.device(instance)(COMMAND, PATIENCE_MS)))
    expect(answers).toEqual(Array.from({ length: 20 }, () => DONE))
    expect([stale.length, done.length]).toEqual([0, 20])
  })

  it('that no process starts is withdrawn, so it is definitely not done', async () => {
    await announce(900_009)
    await giveTo(900_001)
    const answer = await asking.device(instance)(COMMAND, 300)
    expect(answer).toEqual({ outcome: 'not_open', text: expect.stringContaining('no process runs this instance') })
    expect(await rows()).toEqual([])
    const late = await own(900_001, async () => DONE)
    const next = await asking.device(instance)({ verb: 'restart' }, PATIENCE_MS)
    expect(next).toEqual(DONE)
    expect(late).toEqual([{ verb: 'restart' }])
  })

  it("is answered while another one's answer is being deleted with its organization", async () => {
    await giveTo(900_001)
    const { database, secrets } = asking.ctx
    const asked = [newId(), newId()].map((id) => ({ organizationId: instance.organization_id, id }))
    for (const { organizationId, id } of asked) {
      const command = { id, instanceId: instance.id, command: Buffer.from('x'), connects: false, timeoutMs: 10_000 }
      await insertCommand(database, organizationId, command)
      await answerCommand(database, organizationId, id, encryptForProcess(secrets, organizationId, DONE))
    }
    const taken = async () => (await takeAnswers(database, asked)).map(({ id }) => id)
    const sql = 'DELETE FROM instance_commands WHERE organization_id = $1 AND id = $2'
    const deletion = await hold(devices.world.database, sql, [instance.organization_id, asked[0]?.id])
    expect(await taken()).toEqual([asked[1]?.id])
    await deletion.release()
    expect(await taken()).toEqual([asked[0]?.id])
  })

  it('that was started and not answered may have been done or not', async () => {
    const done = await own(900_001, () => new Promise((resolve) => setTimeout(resolve, 2_000, DONE)))
    expect(await asking.device(instance)(COMMAND, 500)).toMatchObject({ outcome: 'unknown' })
    expect(done).toHaveLength(1)
    expect(await rows()).toEqual([])
  })

  it('waits for a process to lease the instance', async () => {
    await query('UPDATE instances SET wanted = true WHERE id = $1', [instance.id])
    await announce(900_009)
    const answer = asking.device(instance)(COMMAND, PATIENCE_MS)
    await expect.poll(rows).toHaveLength(1)
    await own(900_001, async () => DONE)
    expect(await answer).toEqual(DONE)
  })

  it('is not sent if the instance should not be connected', async () => {
    await own(900_001, async () => DONE, false)
    expect(await asking.device(instance)(COMMAND, PATIENCE_MS)).toMatchObject({ outcome: 'not_open' })
    const gone = { ...instance, id: newId() }
    expect(await asking.device(gone)(COMMAND, PATIENCE_MS)).toMatchObject({ outcome: 'not_open' })
  })

  it('of another organization reaches no device', async () => {
    const done = await own(900_001, async () => DONE)
    const other = await devices.world.createOrganization()
    const foreign = { ...instance, organization_id: other.id }
    expect(await asking.device(foreign)(COMMAND, PATIENCE_MS)).toMatchObject({ outcome: 'not_open' })
    expect(done).toEqual([])
  })

  it('is given up in time if the database does not answer', async () => {
    await own(900_001, async () => DONE)
    const held = await hold(devices.world.database, 'SELECT FROM instances WHERE id = $1 FOR UPDATE', [instance.id])
    expect(await asking.device(instance)(COMMAND, 100)).toMatchObject({ outcome: 'unknown' })
    await held.release()
  })

  it('is polled with one query for all waiting commands', async () => {
    let looks = 0
    const { database } = asking.ctx
    const counting = {
      ...database,
      run: (statement: { name: string }, values: unknown[]) => {
        if (statement.name === 'instanceCommands.takeAnswers') looks += 1
        return database.run(statement as never, values)
      },
    } as typeof database
    const desk = createSessionCommands({ ...asking.ctx, database: counting }, asking.sessions)
    let answer = () => {}
    const answered = new Promise<DeviceAnswer>((resolve) => {
      answer = () => resolve(DONE)
    })
    const done = await own(900_001, () => answered)
    const answers = Promise.all(Array.from({ length: 60 }, () => desk(instance)(COMMAND, 20_000)))
    await expect.poll(() => done.length).toBe(60)
    const before = looks
    answer()
    expect(await answers).toHaveLength(60)
    expect(looks - before).toBeLessThan(60)
    expect(await rows()).toEqual([])
  })

  it('is answered even if another answer cannot be decrypted', async () => {
    await giveTo(900_001)
    await announce(900_001)
    const answers = Promise.all([1, 2, 3].map(() => asking.device(instance)(COMMAND, PATIENCE_MS)))
    await expect.poll(rows).toHaveLength(3)
    // They are read together, whichever comes first.
    const good = encryptForProcess(asking.ctx.secrets, instance.organization_id, DONE)
    await query(
      `UPDATE instance_commands SET begun_at = now(),
         answer = CASE WHEN id = (SELECT id FROM instance_commands ORDER BY id OFFSET 1 LIMIT 1) THEN $1 ELSE 'x'::bytea END`,
      [good],
    )
    const outcomes = (await answers).map(({ outcome }) => outcome)
    expect(outcomes.sort()).toEqual(['done', 'unknown', 'unknown'])
  })

  it('is encrypted in the tables, and so is its answer', async () => {
    let answer = () => {}
    const answered = new Promise<DeviceAnswer>((resolve) => {
      answer = () => resolve({ outcome: 'done', value: 'secret words' })
    })
    const done = await own(900_001, () => answered)
    const asked = asking.device(instance)({ verb: 'check_numbers', numbers: ['secret words'] }, PATIENCE_MS)
    await expect.poll(() => done.length).toBe(1)
    const { rows: kept } = await query('SELECT command, connects FROM instance_commands')
    expect(kept).toEqual([{ command: expect.any(Buffer), connects: false }])
    expect(kept[0].command.includes('secret')).toBe(false)
    answer()
    expect(await asked).toEqual({ outcome: 'done', value: 'secret words' })
  })

  it('is deleted after a minute if its sender has died', async () => {
    const { database } = devices.world
    await giveTo(900_001)
    const asked = { id: newId(), instanceId: instance.id, command: Buffer.from('x'), connects: true, timeoutMs: 0 }
    expect(await insertCommand(database, instance.organization_id, asked)).toEqual({ held: true })
    await answerCommand(database, instance.organization_id, asked.id, Buffer.from('y'))
    await expireOutcomes(asking.ctx)
    expect(await rows()).toHaveLength(1)
    await query(`UPDATE instance_commands SET expires_at = now() - interval '61 seconds'`)
    await expireOutcomes(asking.ctx)
    expect(await rows()).toEqual([])
  })
})

describe('a command to a device of this process', () => {
  it('is given up in time if the device does not answer', async () => {
    const hung: Device = () => new Promise(() => undefined)
    const desk = createSessionCommands(asking.ctx, { find: () => hung })
    expect(await desk(instance)(COMMAND, 100)).toMatchObject({ outcome: 'unknown' })
  })
})
