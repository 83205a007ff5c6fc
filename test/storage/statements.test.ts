import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { loadStatements } from '../support/statements.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.drop())

describe('every statement', () => {
  it('can be prepared against the migrated schema', async () => {
    const statements = await loadStatements()
    expect(statements.length).toBeGreaterThan(50)
    for (const { name, text } of statements) {
      const client = await database.pool.connect()
      try {
        await client.query(`PREPARE checked AS ${text}`).catch((error: Error) => {
          throw new Error(`${name}: ${error.message}`)
        })
        await client.query('DEALLOCATE checked')
      } finally {
        client.release()
      }
    }
  })
})
