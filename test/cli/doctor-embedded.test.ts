import { afterAll, beforeAll, expect, it } from 'vitest'
import { runChecks } from '../../src/cli/doctor/check.js'
import { serverChecks } from '../../src/cli/doctor/server.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.drop())

it('says nothing about what Parley has set on its own server: locale, role, log', async () => {
  const warningsOf = async (isEmbedded: boolean) => {
    const reports = await runChecks(serverChecks(database, 10, { isEmbedded }))
    return reports.filter(({ level }) => level === 'warning').map(({ check }) => check)
  }
  // The server of the tests is set up as the embedded one is, with a superuser.
  expect(await warningsOf(false)).toContain('rights')
  const own = await warningsOf(true)
  for (const check of ['server', 'rights', 'publications']) expect(own).not.toContain(check)
})
