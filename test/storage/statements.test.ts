import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { loadStatements } from '../support/statements.js'

let database: TestDatabase

/** $1 is the id of an organization, or the statement concerns all of them. */
const NAMES_ORGANIZATION = /organization[\s\S]*\$1\b/i

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

  // The pools share their connections by it.
  it('has the organization first, if its first value is a UUID', async () => {
    const other: string[] = []
    const client = await database.pool.connect()
    for (const { name, text } of await loadStatements()) {
      await client.query(`PREPARE checked AS ${text}`)
      const { rows } = await client.query<{ first: string | null }>(
        `SELECT parameter_types[1]::text AS first FROM pg_prepared_statements WHERE name = 'checked'`,
      )
      await client.query('DEALLOCATE checked')
      if (rows[0]?.first === 'uuid' && !NAMES_ORGANIZATION.test(text)) other.push(name)
    }
    client.release()
    expect(other).toEqual([])
  })
})
