import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { besideService, makeFolder, run } from '../../support/cli.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
let env: Record<string, string>

beforeAll(async () => {
  database = await createTestDatabase()
  env = besideService(database.connection)
})

afterAll(() => database.drop())

describe('migrate', () => {
  it('prints what it did, or that there is nothing to do', async () => {
    expect(await run(['migrate'], env)).toEqual(
      expect.objectContaining({ code: 0, out: 'The database is up to date\n', err: '' }),
    )
    await withEmptyDatabase(async (empty) => {
      expect(await run(['migrate'], empty)).toMatchObject({ code: 0, out: expect.stringMatching(/^Applied 0001_\w+/) })
      expect(await run(['org', 'list'], empty)).toMatchObject({ code: 0, out: '(none)\n' })
    })
  })
})

describe('migrate --status', () => {
  it('shows the schema and the running processes', async () => {
    const shown = await run(['migrate', '--status'], env)
    expect(shown).toMatchObject({ code: 0, err: '' })
    expect(shown.out).toMatch(/^schema +current, at \d{4}_\w+$/m)
    expect(shown.out).toMatch(/^can go back to +no version without a restore$/m)
    expect(shown.out).toMatch(/^processes +none$/m)
    await withEmptyDatabase(async (empty) => {
      expect(await run(['migrate', '--status'], empty)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^schema +empty$/m),
      })
      const { out } = await run(['migrate', '--status', '--json'], empty)
      expect(JSON.parse(out)).toMatchObject({
        schema: 'empty',
        newest: null,
        backTo: null,
        missing: expect.arrayContaining(['0001_schema']),
      })
    })
  })
})

describe('migrate --contract', () => {
  it('cannot be combined with --status', async () => {
    expect(await run(['migrate', '--contract', '--status'], env)).toMatchObject({ code: 2, out: '' })
  })
})

describe('a schema', () => {
  it('that is missing is all that doctor says of the tables', async () => {
    await withEmptyDatabase(async (empty) => {
      const reports: { check: string; found: string; remedy: string }[] = (
        await run(['doctor', '--json'], empty)
      ).json()
      expect(reports.find(({ check }) => check === 'schema')).toMatchObject({
        found: 'there are no tables of Parley yet',
        remedy: 'run parley migrate',
      })
      const others = ['secrets', 'upstream', 'numbers', 'scheduled messages']
      expect(reports.filter(({ check, found }) => others.includes(check) || found.includes('relation'))).toEqual([])
    })
  })

  it('that is older than the program is left unchanged', async () => {
    await withEmptyDatabase(async (older) => {
      await run(['migrate'], older)
      const client = new pg.Client({ connectionString: older.PARLEY_DATABASE_URL })
      await client.connect()
      await client.query('UPDATE migrations SET version = 9999 WHERE version = 1')
      await client.end()
      for (const command of [['org', 'list'], ['serve'], ['up']]) {
        expect(await run(command, { ...older, PARLEY_PORT: '0' })).toMatchObject({
          code: 2,
          out: '',
          err: "parley: The database's schema is older than this version: run 'parley migrate', or start with --migrate\n",
        })
      }
    })
  })

  it('that was made before the first release is left unchanged', async () => {
    await withEmptyDatabase(async (unreleased) => {
      const client = new pg.Client({ connectionString: unreleased.PARLEY_DATABASE_URL })
      await client.connect()
      await client.query('CREATE TABLE schema_migrations (version integer)')
      for (const command of [['org', 'list'], ['migrate'], ['serve', '--migrate'], ['up']]) {
        expect(await run(command, { ...unreleased, PARLEY_PORT: '0' })).toMatchObject({
          code: 2,
          out: '',
          err: 'parley: This database was made by a version before 1.0.0, which is not supported: use an empty database\n',
        })
      }
      const { rows } = await client.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
      expect(rows).toEqual([{ tablename: 'schema_migrations' }])
      await client.end()
    })
  })

  it('that does not exist yet is created by migrate and up only', async () => {
    await withEmptyDatabase(async (empty) => {
      for (const command of [['org', 'list'], ['serve']]) {
        expect(await run(command, { ...empty, PARLEY_PORT: '0' })).toMatchObject({
          code: 2,
          out: '',
          err: "parley: The database has no tables of Parley yet: run 'parley migrate', or start with --migrate\n",
        })
      }
    })
  })

  it('that is newer than the program is left unchanged', async () => {
    await database.pool.query("INSERT INTO migrations (version, name, is_contract) VALUES (9999, '9999_future', true)")
    try {
      for (const command of [['org', 'list'], ['migrate'], ['serve', '--migrate']]) {
        const refused = await run(command, { ...env, PARLEY_PORT: '0' })
        expect(refused).toMatchObject({ code: 2, out: '' })
        expect(refused.err).toMatch(/^parley: The database's schema is newer than this version: .+\n$/)
      }
    } finally {
      await database.pool.query('DELETE FROM migrations WHERE version = 9999')
    }
  })
})

describe('PARLEY_DATABASE_URL', () => {
  it.each([
    ['mysql://u:hunter2@db/parley', 'expected a URL of PostgreSQL'],
    ['postgres://u:hunter2@127.0.0.1:1/parley', 'cannot connect (connect ECONNREFUSED'],
    ['postgres://u:hunter2@nowhere.invalid/parley', 'cannot connect (getaddrinfo'],
    ['postgres:///parley?host=/nowhere', 'cannot connect (connect ENOENT'],
  ])('%s ends with 2 and one line without the password', async (url, complaint) => {
    const refused = await run(['org', 'list'], { ...env, PARLEY_DATABASE_URL: url })
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(/^parley: PARLEY_DATABASE_URL.+\n$/)
    expect(refused.err).toContain(complaint)
    expect(refused.err).not.toContain('hunter2')
  })

  it('of an unknown database ends with 2', async () => {
    const url = new URL(env.PARLEY_DATABASE_URL ?? '')
    url.pathname = '/no_such_database'
    const refused = await run(['org', 'list'], { ...env, PARLEY_DATABASE_URL: url.href })
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain('database "no_such_database" does not exist')
  })

  it('of a server that is not PostgreSQL ends with 2', async () => {
    const server = await listen(createServer((socket) => socket.on('error', () => undefined).end('SSH-2.0-Other\r\n')))
    const refused = await run(['org', 'list'], { ...env, PARLEY_DATABASE_URL: urlOf(server) })
    server.close()
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(/^parley: PARLEY_DATABASE_URL: cannot connect \(.+\): check host.+\n$/)
  })

  it('of a server that accepts connections and answers nothing ends with 2', async () => {
    const server = await listen(createServer())
    const refused = await run(['org', 'list'], { ...env, PARLEY_DATABASE_URL: urlOf(server) })
    server.close()
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(
      /^parley: PARLEY_DATABASE_URL: it accepts connections and answers nothing: check host and port.+\n$/,
    )
  })

  it('of a PostgreSQL older than 15 ends with 2', async () => {
    const server = await listen(createServer(speakAsPostgres14))
    const refused = await run(['org', 'list'], { ...env, PARLEY_DATABASE_URL: urlOf(server) })
    server.close()
    expect(refused).toMatchObject({
      code: 2,
      out: '',
      err: 'parley: PARLEY_DATABASE_URL: the server is older than PostgreSQL 15, the oldest that Parley works with\n',
    })
  })
})

describe('the embedded database', () => {
  it('is created, and runs for as long as a command takes', async () => {
    const folder = await makeFolder()
    try {
      const embedded = { PARLEY_DATA_DIR: join(folder.path, 'data') }
      const made = await run(['org', 'create', '--name', 'Kept', '--slug', 'kept', '--json'], embedded)
      expect(made).toMatchObject({ code: 0, err: '' })
      expect(await readdir(join(folder.path, 'data'))).toEqual(['postgres'])
      expect(await readdir(join(folder.path, 'data', 'postgres'))).not.toContain('postmaster.pid')
      expect((await run(['org', 'show', 'kept', '--json'], embedded)).json()).toEqual(made.json())
    } finally {
      await folder.remove()
    }
  })
})

async function withEmptyDatabase(work: (env: Record<string, string>) => Promise<void>): Promise<void> {
  const name = `parley_test_${process.pid}_empty`
  await database.pool.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  const url = new URL(env.PARLEY_DATABASE_URL ?? '')
  url.pathname = `/${name}`
  try {
    await work({ ...env, PARLEY_DATABASE_URL: url.href })
  } finally {
    await database.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
  }
}

async function listen(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function urlOf(server: Server): string {
  return `postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/parley`
}

/**
 * Accepts every connection and answers every query with the version 14.9, as PostgreSQL 14 does to SHOW
 * server_version_num.
 */
function speakAsPostgres14(socket: Socket): void {
  let greeted = false
  socket.on('error', () => undefined)
  socket.on('data', (data) => {
    if (!greeted) {
      greeted = true
      socket.write(Buffer.concat([frame('R', Buffer.alloc(4)), frame('Z', Buffer.from('I'))]))
    } else if (data[0] === 'Q'.charCodeAt(0)) {
      const column = Buffer.concat([
        Buffer.from([0, 1]),
        Buffer.from('server_version_num\0'),
        Buffer.alloc(6),
        int32(25),
        Buffer.alloc(8),
      ])
      const value = Buffer.from('140009')
      const row = Buffer.concat([Buffer.from([0, 1]), int32(value.length), value])
      const done = frame('C', Buffer.from('SHOW\0'))
      socket.write(Buffer.concat([frame('T', column), frame('D', row), done, frame('Z', Buffer.from('I'))]))
    } else socket.end()
  })
}

/** A message of PostgreSQL's protocol: its kind, its length, its content. */
function frame(kind: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(content.length + 4), content])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
