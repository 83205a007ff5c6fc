import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { openDatabase } from '../../src/database/pool.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { onDatabase } from '../support/global-setup.js'
import { endPrograms, runProgram, startProgram } from './support/programs.js'
import { makeFolder, sharedSecrets, startService, urlOf } from './support/service.js'

let folder: Awaited<ReturnType<typeof makeFolder>>
let migrated: TestDatabase
const cleanups: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  folder = await makeFolder()
  migrated = await createTestDatabase()
})

afterEach(async () => {
  await endPrograms()
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

afterAll(async () => {
  await migrated?.drop()
  await folder?.remove()
})

describe('serve ends with code 2 and one clear line for', () => {
  it('a taken port', async () => {
    const { port } = await listen(() => undefined)
    await expectRefusal(['serve'], { ...onMigrated(), PARLEY_PORT: String(port) }, [`PARLEY_PORT=${port}`, 'is taken'])
  })

  it('a taken port with the embedded database, which it stops too', async () => {
    const { port } = await listen(() => undefined)
    const env = { PARLEY_DATA_DIR: join(folder.path, 'taken'), PARLEY_PORT: String(port) }
    await expectRefusal(['serve'], env, [`PARLEY_PORT=${port}`, 'is taken'])
    const service = await startService({ ...env, PARLEY_PORT: '0' })
    expect(await service.request('GET', '/readyz')).toMatchObject({ status: 200 })
  })

  it('an address that this machine does not have', async () => {
    await expectRefusal(['serve'], { ...onMigrated(), PARLEY_HOST: '192.0.2.1' }, ['PARLEY_HOST=192.0.2.1'])
  })

  it('a data folder that cannot be created', async () => {
    const file = join(folder.path, 'file')
    await writeFile(file, '')
    const env = { PARLEY_DATA_DIR: join(file, 'data') }
    await expectRefusal(['serve'], env, ['PARLEY_DATA_DIR', join(file, 'data')])
    // With the secrets given, it is the database that finds no room.
    await expectRefusal(['serve'], { ...env, ...sharedSecrets }, ['PARLEY_DATA_DIR', join(file, 'data')])
  })

  it('a database folder with other content', async () => {
    const dataDir = join(folder.path, 'other')
    await mkdir(join(dataDir, 'postgres'), { recursive: true })
    await writeFile(join(dataDir, 'postgres', 'diary.txt'), 'mine')
    await expectRefusal(['serve'], { PARLEY_DATA_DIR: dataDir }, ['holds no database', 'PARLEY_DATA_DIR'])
  })

  it('a data folder that another service uses', async () => {
    const env = { PARLEY_DATA_DIR: join(folder.path, 'shared'), PARLEY_PORT: '0' }
    const service = await startService(env)
    await expectRefusal(['serve'], env, ['is in use', String(service.program.pid)])
    expect(await service.request('GET', '/readyz')).toMatchObject({ status: 200 })
  })

  it('damaged secrets', async () => {
    const dataDir = join(folder.path, 'spoiled')
    await mkdir(dataDir)
    await writeFile(join(dataDir, 'secrets.json'), '{"PARLEY_SECRET": "s3cret-that-nobody-shall-read')
    const said = await expectRefusal(['serve'], { PARLEY_DATA_DIR: dataDir }, [join(dataDir, 'secrets.json')])
    expect(said).not.toContain('s3cret')
  })

  it('a database that refuses the connection', async () => {
    const { port, close } = await listen(() => undefined)
    await close()
    await expectDatabaseRefusal(`postgres://me:hush@127.0.0.1:${port}/none`, ['ECONNREFUSED'])
  })

  it('a database that does not exist', async () => {
    const server = inject('server')
    await expectDatabaseRefusal(urlOf(onDatabase(server, 'absent_database')), ['"absent_database" does not exist'])
  })

  it('a server that is not PostgreSQL and answers garbage', async () => {
    const { port } = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await expectDatabaseRefusal(`postgres://me:hush@127.0.0.1:${port}/none`, [])
  })

  it('a server that is not PostgreSQL and stays silent', async () => {
    const { port } = await listen(() => undefined)
    await expectDatabaseRefusal(`postgres://me:hush@127.0.0.1:${port}/none`, ['answers nothing', 'check host and port'])
  })

  it('a server that is not PostgreSQL and closes the connection', async () => {
    const { port } = await listen((socket) => socket.destroy())
    await expectDatabaseRefusal(`postgres://me:hush@127.0.0.1:${port}/none`, [])
  })

  it.each(['mysql://me:hush@localhost/parley', 'localhost/parley?password=hush', 'postgres://me:hush@ho st/parley'])(
    'the database URL %s',
    async (url) => {
      await expectDatabaseRefusal(url, ['expected a URL of PostgreSQL such as postgres://'])
    },
  )

  it('a schema of a newer version', async () => {
    const newer = await createTestDatabase()
    cleanups.push(newer.drop)
    await newer.pool.query(`INSERT INTO migrations (version, name, is_contract) VALUES (9999, '9999_future', true)`)
    await expectRefusal(['serve'], onDatabaseOf(newer), ['schema is newer than this version'])
    await expectRefusal(['serve', '--migrate'], onDatabaseOf(newer), ['schema is newer than this version'])
  })

  it('an unknown variable, listing the known ones', async () => {
    await expectRefusal(['serve'], { PARLEY_DATABASE: 'x' }, [
      'PARLEY_DATABASE is not a setting',
      'PARLEY_DATABASE_URL',
    ])
  })

  it('an invalid value, with the expected form', async () => {
    await expectRefusal(['serve'], { PARLEY_PORT: '80808' }, ['PARLEY_PORT="80808"', 'from 0'])
    const said = await expectRefusal(['serve'], { PARLEY_SECRET: 'hush,,hush' }, [
      'PARLEY_SECRET=***',
      'different keys',
    ])
    expect(said).not.toContain('hush')
  })
})

describe('an empty external database', () => {
  it('is refused by serve, migrated by migrate, and then served', async () => {
    const env = { ...sharedSecrets, PARLEY_DATABASE_URL: await createEmptyDatabase(), PARLEY_PORT: '0' }
    await expectRefusal(['serve'], env, ["run 'parley migrate', or start with --migrate"])
    const first = await runProgram(['migrate'], { env })
    expect(first).toMatchObject({ code: 0, output: [expect.stringMatching(/^Applied 0001_/)], errors: [] })
    const second = await runProgram(['migrate'], { env })
    expect(second).toMatchObject({ code: 0, output: ['The database is up to date'], errors: [] })
    const service = await startService(env)
    expect(await service.request('GET', '/readyz')).toMatchObject({ status: 200 })
  })

  it('is migrated by serve --migrate, also in two concurrent starts', async () => {
    const env = { ...sharedSecrets, PARLEY_DATABASE_URL: await createEmptyDatabase(), PARLEY_PORT: '0' }
    const services = await Promise.all([startService(env, ['--migrate']), startService(env, ['--migrate'])])
    for (const service of services) expect(await service.request('GET', '/readyz')).toMatchObject({ status: 200 })
  })
})

describe('the command line', () => {
  it.each([
    { args: ['dance'], words: ['dance'] },
    { args: ['serve', '--fast'], words: ['--fast'] },
    { args: ['serve', 'now'], words: ['serve'] },
    { args: ['sandbox', '--port', 'http'], words: ['--port', 'http'] },
    { args: ['sandbox', '--port', '70000'], words: ['--port', '70000'] },
  ])('refuses $args with code 2', async ({ args, words }) => {
    const { code, output, errors } = await runProgram(args)
    expect(code).toBe(2)
    expect(output).toEqual([])
    for (const word of words) expect(errors[0]).toContain(word)
  })

  it('shows its help', async () => {
    const { code, output } = await runProgram(['--help'])
    expect(code).toBe(0)
    for (const command of ['serve', 'migrate', 'config', 'sandbox']) expect(output.join('\n')).toContain(command)
  })
})

describe('config', () => {
  const env = () => ({
    ...sharedSecrets,
    PARLEY_DATABASE_URL: 'postgres://me:hush@db.example.com/parley?password=hush',
    PARLEY_DATA_DIR: folder.path,
    PARLEY_RATE_LIMIT: '7',
  })

  it('prints the effective settings with secrets masked', async () => {
    const { code, output, errors } = await runProgram(['config'], { env: env() })
    expect({ code, errors }).toEqual({ code: 0, errors: [] })
    const text = output.join('\n')
    for (const secret of ['hush', ...Object.values(sharedSecrets)]) expect(text).not.toContain(secret)
    expect(text).toMatch(/PARLEY_RATE_LIMIT +7 +environment/)
    expect(text).toMatch(/PARLEY_PORT +8080 +default/)
    expect(text).toMatch(/PARLEY_SECRET +\*\*\* +environment/)
    expect(text).toContain('postgres://me:***@db.example.com/parley?password=***')
  })

  it('prints the same as JSON', async () => {
    const { code, output } = await runProgram(['config', '--json'], { env: env() })
    expect(code).toBe(0)
    const rows: { name: string }[] = JSON.parse(output.join('\n'))
    expect(rows).toContainEqual({ name: 'PARLEY_RATE_LIMIT', value: '7', source: 'environment' })
    expect(rows).toContainEqual({ name: 'PARLEY_ADMIN_TOKEN', value: '***', source: 'environment' })
    expect(JSON.stringify(rows)).not.toContain('hush')
  })

  it('refuses the settings that serve refuses', async () => {
    await expectRefusal(['config'], { PARLEY_PORT: '-1' }, ['PARLEY_PORT'])
  })
})

describe('sandbox', () => {
  it('serves the upstream and its control on a free port, and ends with code 0', async () => {
    const program = await startProgram(['sandbox', '--port', '0'])
    const line = await program.firstLine
    expect(line).toMatch(/^parley sandbox ready on http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    const url = line.slice('parley sandbox ready on '.length)
    expect((await fetch(`${url}/_sim/messages`)).status).toBe(200)
    program.kill('SIGTERM')
    expect(await program.exited).toEqual({ code: 0, signal: null })
    expect(program.output).toEqual([line])
  })

  it('refuses a taken port', async () => {
    const { port } = await listen(() => undefined)
    await expectRefusal(['sandbox', '--port', String(port)], {}, [String(port)])
  })

  it.each(['0.0.0.0', '::'])('refuses the public address %s', async (host) => {
    await expectRefusal(['sandbox', '--port', '0', '--host', host], {}, [host, 'loopback'])
  })
})

/**
 * Runs the command and holds it to: code 2, nothing on standard output, one line on standard error with these words.
 */
async function expectRefusal(args: string[], env: Record<string, string>, words: string[]): Promise<string> {
  const { code, output, errors } = await runProgram(args, { env, cwd: folder.path })
  expect({ code, output, errors }).toEqual({ code: 2, output: [], errors: [expect.stringMatching(/^parley: /)] })
  const [said = ''] = errors
  for (const word of words) expect(said).toContain(word)
  return said
}

async function expectDatabaseRefusal(url: string, words: string[]): Promise<void> {
  const env = { ...sharedSecrets, PARLEY_DATABASE_URL: url }
  const said = await expectRefusal(['serve'], env, ['PARLEY_DATABASE_URL', ...words])
  expect(said).not.toContain('hush')
}

function onMigrated(): Record<string, string> {
  return onDatabaseOf(migrated)
}

function onDatabaseOf({ connection }: TestDatabase): Record<string, string> {
  return { ...sharedSecrets, PARLEY_DATABASE_URL: urlOf(connection), PARLEY_PORT: '0' }
}

let emptyOnes = 0

/** Resolves to its URL. */
async function createEmptyDatabase(): Promise<string> {
  const name = `parley_empty_${process.pid}_${++emptyOnes}`
  const server = openDatabase(inject('server'), 1, () => undefined)
  await server.pool.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  cleanups.push(async () => {
    await server.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await server.close()
  })
  return urlOf(onDatabase(inject('server'), name))
}

async function listen(onSocket: (socket: Socket) => void): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  cleanups.push(close)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, close }
}
