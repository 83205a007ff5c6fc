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

  // A migration adds columns while processes of the version before run their prepared statements.
  it('gives the same result after a column was added to each table', async () => {
    const refused: string[] = []
    const client = await database.pool.connect()
    await client.query('BEGIN')
    const control = { name: 'control', text: 'SELECT * FROM contacts' }
    const statements = [...(await loadStatements()), control]
    const nulls = new Map<string, string>()
    for (const [index, { name, text }] of statements.entries()) {
      await client.query(`PREPARE s${index} AS ${text}`)
      const { rows } = await client.query<{ count: number }>(
        `SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements WHERE name = 's${index}'`,
      )
      nulls.set(
        name,
        Array(rows[0]?.count ?? 0)
          .fill('NULL')
          .join(', '),
      )
    }
    const tables = await client.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    )
    for (const { relname } of tables.rows) await client.query(`ALTER TABLE ${relname} ADD COLUMN added_later int`)
    for (const [index, { name }] of statements.entries()) {
      await client.query('SAVEPOINT before_it')
      const values = nulls.get(name)
      // Whether it succeeds with these values does not matter here.
      await client.query(`EXECUTE s${index}${values ? ` (${values})` : ''}`).catch((error: Error) => {
        if (error.message.startsWith('cached plan')) refused.push(name)
      })
      await client.query('ROLLBACK TO before_it')
    }
    await client.query('ROLLBACK')
    client.release()
    expect(refused).toEqual(['control'])
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
