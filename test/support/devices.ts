import { randomUUID } from 'node:crypto'
import { type Logger, pino } from 'pino'
import { expect } from 'vitest'
import type { Device } from '../../src/channels/device.js'
import type { Context } from '../../src/context.js'
import { createSessionCommands } from '../../src/core/instances/commands/session-commands.js'
import { Sessions } from '../../src/core/instances/sessions/sessions.js'
import { type ProcessRegistration, registerThisProcess } from '../../src/core/processes/process-registry.js'
import type { Database } from '../../src/database/pool.js'
import { newId } from '../../src/lib/bytes/id.js'
import { PATIENCE_MS } from './patience.js'
import * as library from './scripted-device/library.js'
import { type ScriptedNetwork, startScriptedNetwork } from './scripted-device/network.js'
import { startWorld, type TestOrganization, type World } from './world.js'

/** A process that runs linked devices. */
export interface Process {
  id: number
  ctx: Context
  sessions: Sessions
  device(instance: TestInstance): Device
  /** Delays the statement of this name until the promise resolves. */
  delay(statement: string, until: Promise<void>): void
  /** The number of runs of the statement with this name. */
  ran(statement: string): number
}

/** The row of a linked device. */
export interface TestInstance {
  organization_id: string
  id: string
}

/** A service that runs no linked devices itself, the scripted network, and processes that run them. */
export interface Devices {
  world: World
  network: ScriptedNetwork
  organization: TestOrganization
  startProcess(options?: { hasLibrary?: boolean; log?: Logger }): Promise<Process>
  createInstance(wanted?: boolean, of?: TestOrganization): Promise<TestInstance>
  rowOf(instance: TestInstance): Promise<InstanceRow>
  /** Links the instance with a number, in a process that runs it. */
  link(instance: TestInstance, number: string): Promise<void>
  close(): Promise<void>
}

/** The checked columns of an instance's row. */
export interface InstanceRow {
  state: string
  state_code: number | null
  owner: string | null
  wanted: boolean
  holder: number | null
}

/** Short leases, so that tests need not wait long for their end. */
export const TIMING = { leaseMs: 2_000, marginMs: 600, roundMs: 100 }

/** The service that `startDevices` uses, for files whose tests share one. */
export function startDeviceWorld(): Promise<World> {
  return startWorld({ PARLEY_ROLES: 'api,worker' })
}

/** `shared` is emptied at the end, not closed. */
export async function startDevices(shared?: World): Promise<Devices> {
  const world = shared ?? (await startDeviceWorld())
  const network = await startScriptedNetwork()
  const organization = await world.createOrganization()
  const processes: { registration: ProcessRegistration; sessions: Sessions }[] = []
  const { pool } = world.database

  async function startProcess({
    hasLibrary = true,
    log = world.app.ctx.log,
  }: {
    hasLibrary?: boolean
    log?: Logger
  } = {}): Promise<Process> {
    const registration = await registerThisProcess(world.database, pino({ level: 'silent' }))
    const { processId } = registration
    const watched = watchStatements(world.app.ctx.database)
    const { database } = watched
    const ctx: Context = {
      ...world.app.ctx,
      log,
      database,
      processId,
      linkedLibrary: async () => (hasLibrary ? library : null),
    }
    const sessions = new Sessions(ctx, { isInstalled: hasLibrary, socketUrl: network.url }, TIMING)
    processes.push({ registration, sessions })
    sessions.start()
    const isKnown = 'SELECT devices_until IS NOT NULL AS known FROM processes WHERE id = $1'
    await expect.poll(async () => (await pool.query(isKnown, [processId])).rows).toEqual([{ known: hasLibrary }])
    const { delay, ran } = watched
    return { id: registration.processId, ctx, sessions, device: createSessionCommands(ctx, sessions), delay, ran }
  }

  async function createInstance(wanted = true, of = organization): Promise<TestInstance> {
    const id = newId()
    await pool.query(
      `INSERT INTO instances (organization_id, id, name, kind, state, token, token_hash, wanted)
       VALUES ($1, $2, $3, 'linked_device', 'close', '', $4, $5)`,
      [of.id, id, `instance ${id}`, Buffer.from(randomUUID()), wanted],
    )
    world.app.ctx.notifications.send({ topic: 'instances' })
    return { organization_id: of.id, id }
  }

  async function rowOf({ id }: TestInstance): Promise<InstanceRow> {
    const columns = 'state, state_code, owner, wanted, holder'
    const { rows } = await pool.query(`SELECT ${columns} FROM instances WHERE id = $1`, [id])
    return rows[0]
  }

  async function link(instance: TestInstance, number: string): Promise<void> {
    const device = world.app.ctx.devices(instance)
    const answer = await device({ verb: 'connect', number: null }, PATIENCE_MS)
    expect(answer).toMatchObject({ outcome: 'done' })
    network.scan((answer as { value: { code: string } }).value.code, number)
    await expect.poll(() => rowOf(instance)).toMatchObject({ state: 'open', owner: number })
  }

  return {
    world,
    network,
    organization,
    startProcess,
    createInstance,
    rowOf,
    link,
    close: async () => {
      for (const { sessions, registration } of processes.splice(0)) {
        await sessions.stop()
        await registration.leave()
      }
      await network.close()
      if (shared === undefined) return world.close()
      await pool.query('DELETE FROM processes WHERE id <> $1', [world.app.ctx.processId])
      await world.reset()
    },
  }
}

/** A database that counts and delays statements, except those inside transactions. */
export function watchStatements(database: Database): Pick<Process, 'delay' | 'ran'> & { database: Database } {
  const delays = new Map<string, Promise<void>>()
  const counts = new Map<string, number>()
  async function pass(name: string): Promise<void> {
    counts.set(name, (counts.get(name) ?? 0) + 1)
    await delays.get(name)
  }
  const run: Database['run'] = async (statement, values) => {
    await pass(statement.name)
    return database.run(statement, values)
  }
  const raise: Database['raise'] = async (statement, values, organizationIds) => {
    await pass(statement.name)
    return database.raise(statement, values, organizationIds)
  }
  return {
    database: Object.assign(Object.create(database) as Database, { run, raise }),
    delay: (statement, until) => void delays.set(statement, until),
    ran: (statement) => counts.get(statement) ?? 0,
  }
}
