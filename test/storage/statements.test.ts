import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { declaredStatements } from '../../src/database/statement.js'
import { packageRoot } from '../../src/lib/package-root.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  for (const folder of ['src/storage', 'src/jobs']) {
    for (const file of await readdir(join(packageRoot(), folder))) {
      await import(pathToFileURL(join(packageRoot(), folder, file)).href)
    }
  }
})

afterAll(() => database.drop())

describe('every statement', () => {
  it('is accepted by the migrated schema', async () => {
    const statements = declaredStatements()
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
