import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ProcessRegistration, registerThisProcess } from '../../../src/core/processes/process-registry.js'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import { isProcessAlive } from '../../../src/storage/processes/process-registry.js'
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
    const registered = async () =>
      (await database.pool.query('SELECT id FROM processes WHERE id = $1', [registration.processId])).rows
    await expect.poll(registered).toEqual([{ id: registration.processId }])
    expect(await isAlive(registration.processId)).toBe(true)
    await other.leave()
  })
})

describe('removing dead processes', () => {
  const registered = async () => {
    const { rows } = await database.pool.query<{ id: number }>('SELECT id FROM processes ORDER BY id')
    return rows.map(({ id }) => id)
  }

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
})
