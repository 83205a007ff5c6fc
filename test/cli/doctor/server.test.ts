import { afterAll, beforeAll, expect, it } from 'vitest'
import { runChecks } from '../../../src/cli/doctor/check.js'
import { machineChecks } from '../../../src/cli/doctor/machine.js'
import { serverChecks } from '../../../src/cli/doctor/server.js'
import type { Config } from '../../../src/config/settings.js'
import type { Database } from '../../../src/database/pool.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.drop())

it('says nothing about what Parley has set on its own server: locale, role', async () => {
  const warningsOf = async (isEmbedded: boolean) => {
    const reports = await runChecks(serverChecks(database, 10, { isEmbedded }))
    return reports.filter(({ level }) => level === 'warning').map(({ check }) => check)
  }
  // The server of the tests is set up as the embedded one is, with a superuser.
  expect(await warningsOf(false)).toContain('rights')
  const own = await warningsOf(true)
  for (const check of ['database', 'rights']) expect(own).not.toContain(check)
})

it('finds a pooler whose connections share a session', async () => {
  const levelOf = async (server: Pick<Database, 'pool'>) =>
    (await runChecks(serverChecks(server, 10))).find(({ check }) => check === 'pooler')?.level
  const session = await database.pool.connect()
  const query = session.query.bind(session)
  const pool = { connect: async () => ({ query, release: () => undefined }) }
  try {
    expect(await levelOf({ pool } as unknown as Database)).toBe('failed')
    expect(await levelOf(database)).toBe('ok')
  } finally {
    session.release(true)
  }
})

it('says that room is needed, whatever check a full disk has failed', async () => {
  const full = () =>
    database.pool.query(`DO $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
  const [report] = await runChecks([
    { name: 'rights', remedy: 'let the role own the database', run: () => full() as never },
  ])
  expect(report).toMatchObject({ level: 'failed', remedy: expect.stringMatching(/^make room on the database's disk/) })
})

// /proc has no room, and no file can be made there.
it.runIf(process.platform === 'linux')(
  'says of a folder without room that it is full, not that it can be written to',
  async () => {
    const checks = machineChecks({ dataDir: '/proc' } as Config).filter(({ name }) => name === 'data folder')
    expect(await runChecks(checks)).toMatchObject([
      {
        level: 'failed',
        found: 'the disk of /proc is full: 0 MB are free',
        remedy: expect.stringMatching(/^make room/),
      },
    ])
  },
)
