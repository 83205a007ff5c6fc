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
  it('spares living ones', async () => {
    await database.pool.query(`INSERT INTO processes (version) VALUES ('1.0.0')`)
    const other = await registerThisProcess(neighbours, log)
    await registration.removeDead()
    expect(await isAlive(other.processId)).toBe(true)
    const { rows } = await database.pool.query<{ id: number }>('SELECT id FROM processes ORDER BY id')
    expect(rows.map((row) => row.id)).toEqual([registration.processId, other.processId].sort((a, b) => a - b))
    await other.leave()
  })
})
