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
  const reports = await runChecks(serverChecks(database, 10, { isEmbedded: true }))
  expect(reports.filter(({ level }) => level === 'warning').map(({ check }) => check)).not.toContain('database')
  expect(reports.map(({ check }) => check)).not.toContain('rights')
})

it('warns of a superuser that was added later, but not of the bootstrap superuser of an image', async () => {
  const rightsAs = async (role: string) => {
    const pool = {
      connect: async () => {
        const client = await database.pool.connect()
        await client.query(`SET ROLE ${role}`)
        return client
      },
    }
    const reports = await runChecks(serverChecks({ pool } as unknown as Database, 10))
    return reports.find(({ check }) => check === 'rights')
  }
  const further = `parley_super_${process.pid}`
  const { rows } = await database.pool.query('SELECT rolname FROM pg_roles WHERE oid = 10')
  await database.pool.query(`CREATE ROLE ${further} SUPERUSER`)
  try {
    expect(await rightsAs(further)).toMatchObject({ level: 'warning', found: `${further} is a superuser` })
    const [{ rolname: first }] = rows
    // The server of the tests may be one of a package, whose superuser is for what is not Parley's.
    expect(await rightsAs(first)).toMatchObject(
      first === 'postgres'
        ? { level: 'warning', found: 'postgres is a superuser' }
        : {
            level: 'ok',
            found: expect.stringMatching(`^${first} is the superuser with which the server was created; `),
          },
    )
  } finally {
    await database.pool.query(`DROP ROLE ${further}`)
  }
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
