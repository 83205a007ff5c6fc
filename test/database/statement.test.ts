import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { organizationsOf, type Statement } from '../../src/database/statement.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { loadStatements } from '../support/statements.js'

let database: TestDatabase
let statements: Statement<unknown>[]

beforeAll(async () => {
  database = await createTestDatabase()
  statements = await loadStatements()
})

afterAll(() => database.drop())

describe('statements that raise events', () => {
  it('are known as such, however they are written', () => {
    const writing = statements.filter(({ text }) => /\b(into|merge)\s+(only\s+)?("?public"?\.)?"?events\b/i.test(text))
    expect(writing.length).toBeGreaterThan(15)
    expect(namesOf(statements.filter(({ raisesEvents }) => raisesEvents))).toEqual(namesOf(writing))
  })

  it('take first the id of an organization, or the JSON text of items that name theirs', async () => {
    for (const { name, text } of statements.filter(({ raisesEvents }) => raisesEvents)) {
      const type = await typeOfFirst(text)
      if (type !== 'uuid') {
        expect({ name, type }).toEqual({ name, type: 'json' })
        expect(text, name).toMatch(/json_to_recordset\(\$1\) AS given \([^)]*\borganization_id uuid\b/)
      }
    }
  })
})

describe('organizationsOf', () => {
  const [one, other] = [randomUUID(), randomUUID()]

  it('tells the organization of a statement for one', () => {
    expect(organizationsOf([one, JSON.stringify([{ organization_id: other }])])).toEqual([one])
  })

  it('tells each organization of a shared statement once', () => {
    const items = [one, other, one].map((organization_id, n) => ({ n, organization_id, text: 'hello' }))
    expect(organizationsOf([JSON.stringify(items)])).toEqual([one, other])
  })

  it('takes no text that somebody wrote for the name of an organization', () => {
    const text = JSON.stringify({ organization_id: other })
    const items = [{ organization_id: one, text, also: JSON.stringify({ text }) }]
    expect(organizationsOf([JSON.stringify(items)])).toEqual([one])
  })

  it.each([[[]], [[null]], [[17]], [['a text']], [['[]']], [[[one]]]])('cannot tell it of %j', (values) => {
    expect(organizationsOf(values)).toBeNull()
  })
})

function namesOf(some: readonly Statement<unknown>[]): string[] {
  return some.map(({ name }) => name).sort()
}

async function typeOfFirst(text: string): Promise<string | undefined> {
  const client = await database.pool.connect()
  try {
    await client.query(`PREPARE looked_at AS ${text}`)
    const { rows } = await client.query<{ type: string }>(
      `SELECT parameter_types[1]::text AS type FROM pg_prepared_statements WHERE name = 'looked_at'`,
    )
    await client.query('DEALLOCATE looked_at')
    return rows[0]?.type
  } finally {
    client.release()
  }
}
