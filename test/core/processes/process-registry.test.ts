import { once } from 'node:events'
import type { PoolClient } from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ProcessRegistration, registerThisProcess } from '../../../src/core/processes/process-registry.js'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import { isProcessAlive, removeDeadProcesses } from '../../../src/storage/processes/process-registry.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { cutOff } from '../../support/locks.js'

const log = pino({ level: 'silent' })

let database: TestDatabase
let neighbours: Database
let registration: ProcessRegistration

beforeEach(async () => {
  database = await createTestDatabase()
  neighbours = openDatabase(database.connection, 3, () => undefined)
  registration = await registerThisProcess(database, log)
})

afterEach(async () => {
  await registration.leave()
  await neighbours.close()
  await database.drop()
})

const isAlive = (processId: number) => isProcessAlive(database, processId)

async function registered(): Promise<number[]> {
  const { rows } = await database.pool.query<{ id: number }>('SELECT id FROM processes ORDER BY id')
  return rows.map(({ id }) => id)
}

/** Registers another process. Its own connections are those that it has borrowed, the last one last. */
async function registerOther(): Promise<{ other: ProcessRegistration; own: PoolClient[] }> {
  const own: PoolClient[] = []
  const borrow: Database['borrow'] = async (organizationId) => {
    const borrowed = await neighbours.borrow(organizationId)
    own.push(borrowed.client)
    return borrowed
  }
  return { other: await registerThisProcess({ ...neighbours, borrow }, log), own }
}

describe('a process', () => {
  it('is alive while it is registered, and gone when it leaves', async () => {
    const other = await registerThisProcess(neighbours, log)
    expect(other.processId).not.toBe(registration.processId)
    expect(await isAlive(other.processId)).toBe(true)
    await other.leave()
    // The lock is released when PostgreSQL notices the end of the connection.
    await expect.poll(() => isAlive(other.processId)).toBe(false)
  })

  it('is alive again soon after a broken connection', async () => {
    await cutOff(database, registration.processId)
    await expect.poll(() => isAlive(registration.processId)).toBe(true)
  })

  it('is registered again even if another one declared it dead', async () => {
    const other = await registerThisProcess(neighbours, log)
    await database.pool.query('DELETE FROM processes WHERE id = $1', [registration.processId])
    await cutOff(database, registration.processId)
    await expect.poll(registered).toContain(registration.processId)
    expect(await isAlive(registration.processId)).toBe(true)
    await other.leave()
  })

  // As when the machine of the primary is off: its locks are gone, and a connection to it does not end for a while.
  it('is registered again, once, when it finds its lock free, though its connection has not ended', async () => {
    const { other, own } = await registerOther()
    const ended = once(own[0] as PoolClient, 'end')
    await own[0]?.query('SELECT pg_advisory_unlock_all()')
    expect(await isAlive(other.processId)).toBe(false)
    await other.removeDead()
    await expect.poll(() => isAlive(other.processId)).toBe(true)
    await ended
    await other.removeDead()
    expect(own).toHaveLength(2)
    await other.leave()
  })

  it('is registered again when it finds that it was removed', async () => {
    await database.pool.query('DELETE FROM processes')
    await registration.removeDead()
    await expect.poll(registered).toEqual([registration.processId])
    await expect.poll(() => isAlive(registration.processId)).toBe(true)
  })
})

describe('removing dead processes', () => {
  it('spares living ones', async () => {
    await database.pool.query(`INSERT INTO processes (version) VALUES ('1.0.0')`)
    const other = await registerThisProcess(neighbours, log)
    const living = [registration.processId, other.processId].sort((a, b) => a - b)
    await expect.poll(() => registration.removeDead().then(registered)).toEqual(living)
    expect(await isAlive(other.processId)).toBe(true)
    await other.leave()
  })

  it('spares them at first, as they may be registered again', async () => {
    const { rows } = await database.pool.query(`INSERT INTO processes (version) VALUES ('1.0.0') RETURNING id`)
    await registration.removeDead()
    expect(await registered()).toContain(rows[0]?.id)
  })

  it('is left to those that are registered themselves', async () => {
    const { processId } = registration
    const { rows } = await database.pool.query<{ id: number }>(
      `INSERT INTO processes (version) VALUES ('1.0.0'), ('1.0.0') RETURNING id`,
    )
    const [one, two] = rows.map(({ id }) => id).sort((a, b) => a - b) as [number, number]
    // Neither holds its lock, as before they are registered again at a new primary.
    for (const [own, suspect] of [
      [one, two],
      [two, one],
      [one, processId],
    ] as const) {
      expect(await removeDeadProcesses(database, own, [suspect])).toMatchObject({ isRegistered: false, dead: [] })
    }
    expect(await registered()).toEqual([processId, one, two])
    const found = await removeDeadProcesses(database, processId, [one])
    expect(found.isRegistered).toBe(true)
    expect(found.dead.sort((a, b) => a - b)).toEqual([one, two])
    expect(await registered()).toEqual([processId, two])
  })
})
