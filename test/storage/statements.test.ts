import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { loadStatements } from '../support/statements.js'

let database: TestDatabase

/** The ways in which a statement uses $1 as the id of an organization. */
const NAMES_ORGANIZATION = [
  /\borganization_id (=|IS NOT DISTINCT FROM) (\$1\b|ANY \(ARRAY\[\$1::uuid, \$1::uuid\]\))/,
  /\b(organizations|kept_organizations|organization_rows)\b[^()]* id = \$1\b/,
  /\b(?:kept_)?organizations (\w)\b[\s\S]*\b\1\.id = \$1\b/,
  /\(organization_id\b[^)]*\)\s+(VALUES \(|SELECT )\$1\b/,
  /\borganization_id\)\s+VALUES \([^()]*\$1\)/,
  /INSERT INTO organizations \(id\b[^)]*\)\s+VALUES \(\$1\b/,
  /\$1::uuid AS organization_id\b/,
]
/** An operator's statement, about one organization or all. */
const IS_OPTIONAL = /\$1::uuid IS NULL/

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

  // ORDER BY takes the name of a result before that of a column, and as text 1000000 comes before 999999.
  it('sorts by columns, not by their text', async () => {
    const statements = await loadStatements()
    const sortsByText = ({ text }: { text: string }) =>
      [...text.matchAll(/\b(\w+)::text\b(?!::| AS (?!\1\b))/g)].some(([, column]) =>
        new RegExp(`\\b${column}::text\\b[^;]*ORDER BY ([\\w.]+( DESC)?, )*${column}\\b(?!\\.)`).test(text),
      )
    expect(sortsByText({ text: 'SELECT id, m.seq::text FROM m ORDER BY id, seq DESC' })).toBe(true)
    expect(statements.filter(sortsByText).map(({ name }) => name)).toEqual([])
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
  it('has the id of its organization as its first parameter, unless it is shared', async () => {
    const controls = [
      { name: 'control.other', text: 'SELECT FROM contacts WHERE id = $1', isShared: false },
      { name: 'control.later', text: 'SELECT FROM contacts WHERE id = $1 AND organization_id = $2', isShared: false },
      {
        name: 'control.of several',
        text: 'SELECT FROM contacts WHERE organization_id = ANY ($1::uuid[])',
        isShared: false,
      },
      { name: 'control.of one', text: 'SELECT FROM contacts WHERE organization_id = $1', isShared: true },
    ]
    const wrong: string[] = []
    for (const { name, text, isShared } of [...(await loadStatements()), ...controls]) {
      const namesOne = NAMES_ORGANIZATION.some((use) => use.test(text)) && !IS_OPTIONAL.test(text)
      if (namesOne === isShared) wrong.push(name)
    }
    expect(wrong).toEqual(controls.map(({ name }) => name))
  })
})
