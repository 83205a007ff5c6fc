import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import ts from 'typescript'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chooseAccount } from '../../src/database/embedded/account.js'
import { findBinaries, repairLinks } from '../../src/database/embedded/binaries.js'
import { startServer } from '../../src/database/embedded/server.js'
import { inspectSite, nobody, openSocketFolder } from '../../src/database/embedded/site.js'
import {
  type EmbeddedDatabase,
  EmbeddedDatabaseError,
  openEmbeddedDatabase,
  startEmbeddedDatabase,
} from '../../src/database/embedded.js'
import { makeDatabaseFolder } from '../support/database-folder.js'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const isRoot = process.geteuid?.() === 0
const settings = { fsync: 'off' }

let parent: string
let folder: string
/** A database that was started and stopped; a copy takes a tenth of the time of a first start. */
let stopped: string
const cleanups: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  stopped = join(await makeDatabaseFolder(), 'postgres')
  await (await startEmbeddedDatabase({ folder: stopped, settings })).stop()
})

afterAll(() => rm(dirname(stopped), { recursive: true, force: true }))

beforeEach(async () => {
  parent = await makeDatabaseFolder()
  folder = join(parent, 'postgres')
})

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await rm(parent, { recursive: true, force: true })
})

describe('startEmbeddedDatabase', () => {
  it('creates the database at the first start and keeps its data', async () => {
    const first = await started()
    await query(first, 'CREATE TABLE kept AS SELECT 1 AS number')
    await first.stop()
    const second = await started()
    expect(await query(second, 'SELECT number FROM kept')).toEqual([{ number: 1 }])
    expect(await readdir(parent)).toEqual(['postgres'])
  })

  it('is durable, reachable by Unix socket only, and closed to other users', async () => {
    await copyStopped()
    const database = await startEmbeddedDatabase({ folder })
    cleanups.push(database.stop)
    for (const [name, value] of Object.entries({
      fsync: 'on',
      synchronous_commit: 'on',
      listen_addresses: '',
      jit: 'off',
    })) {
      expect(await query(database, `SHOW ${name}`)).toEqual([{ [name]: value }])
    }
    const { host } = database.connection
    expect((await stat(host)).mode & 0o777).toBe(0o700)
    expect(Buffer.byteLength(join(host, '.s.PGSQL.5432'))).toBeLessThan(100)
  })

  it('sorts and lower-cases letters of all languages', async () => {
    const database = await restarted()
    await query(database, 'CREATE EXTENSION pg_trgm')
    const [row] = await query(database, `SELECT lower('ÉЖ') AS lower, cardinality(show_trgm('привет')) AS trigrams`)
    expect(row).toEqual({ lower: 'éж', trigrams: 7 })
    expect(await query(database, 'SHOW server_encoding')).toEqual([{ server_encoding: 'UTF8' }])
  })

  it('stops once, however often it is asked to, and removes its socket folder', async () => {
    const database = await restarted()
    await Promise.all([database.stop(), database.stop()])
    await database.stop()
    await expect(stat(database.connection.host)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(stat(join(folder, 'postmaster.pid'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('forwards warnings and errors, and nothing below', async () => {
    const heard: string[] = []
    await copyStopped()
    const database = await startEmbeddedDatabase({ folder, settings, log: (message) => heard.push(message) })
    cleanups.push(database.stop)
    await expect(query(database, 'SELECT * FROM absent')).rejects.toThrow('absent')
    await database.stop()
    expect(heard).toEqual(['ERROR:  relation "absent" does not exist at character 15'])
  })

  it('reports when the server ends unexpectedly, and restarts with the data', async () => {
    const database = await restarted()
    await query(database, 'CREATE TABLE kept AS SELECT 1 AS number')
    process.kill(await postmasterPid(), 'SIGKILL')
    await database.ended
    expect(await query(await started(), 'SELECT number FROM kept')).toEqual([{ number: 1 }])
  })
})

describe('startEmbeddedDatabase refuses a folder that', () => {
  it('another start is using', async () => {
    const database = await restarted()
    await expectRefusal(startEmbeddedDatabase({ folder, settings }), `database folder ${folder} is in use`)
    expect(await query(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('one of several concurrent starts has taken', async () => {
    const starts = await Promise.allSettled([1, 2, 3].map(() => startEmbeddedDatabase({ folder, settings })))
    const winners = starts.filter((start) => start.status === 'fulfilled')
    cleanups.push(...winners.map((winner) => winner.value.stop))
    expect(winners).toHaveLength(1)
    const reasons = starts.filter((start) => start.status === 'rejected').map((start) => String(start.reason))
    expect(reasons).toEqual([expect.stringContaining('is in use'), expect.stringContaining('is in use')])
  })

  it('another PostgreSQL version wrote', async () => {
    await mkdir(folder)
    await writeFile(join(folder, 'PG_VERSION'), '17\n')
    await expectRefusal(startEmbeddedDatabase({ folder }), 'was written by PostgreSQL 17, and the embedded one is 18')
  })

  it('contains something else', async () => {
    await mkdir(folder)
    await writeFile(join(folder, 'diary.txt'), 'mine')
    await expectRefusal(startEmbeddedDatabase({ folder }), `${folder} is not empty and holds no database`)
    expect(await readdir(folder)).toEqual(['diary.txt'])
  })

  it('is on a path that cannot contain folders', async () => {
    await writeFile(folder, '')
    await expectRefusal(startEmbeddedDatabase({ folder: join(folder, 'postgres') }), 'cannot be used')
  })

  it('makes the server reject a setting, with one line', async () => {
    const start = startEmbeddedDatabase({ folder, settings: { fsync: 'off', work_mem: 'much' } })
    await expectRefusal(start, 'invalid value for parameter "work_mem": "much"')
    expect(await readdir(parent)).toEqual([])
  })
})

describe('openEmbeddedDatabase', () => {
  it('borrows the server of the service and leaves it running', async () => {
    const service = await restarted()
    const borrowed = await opened()
    await query(borrowed, 'CREATE TABLE told AS SELECT 1 AS number')
    await borrowed.stop()
    expect(await query(service, 'SELECT number FROM told')).toEqual([{ number: 1 }])
  })

  it('reports to a borrower that the server ended', async () => {
    const service = await restarted()
    const borrowed = await opened()
    await service.stop()
    await borrowed.ended
  })

  it('starts one if none runs, and stops it after its last borrower', async () => {
    await copyStopped()
    const first = await opened()
    const second = await opened()
    const stop = first.stop()
    expect(await query(second, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await Promise.all([second.stop(), stop])
    await expect(stat(first.connection.host)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('lets concurrent commands share one server', async () => {
    await copyStopped()
    const databases = await Promise.all([opened(), opened(), opened()])
    for (const database of databases) expect(await query(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await Promise.all(databases.map((database) => database.stop()))
  })
})

describe('after an earlier process died', () => {
  it('an incomplete first start is removed', async () => {
    await mkdir(join(parent, 'postgres.new-0123'))
    await writeFile(join(parent, 'postgres.new-0123', 'PG_VERSION'), '18\n')
    await started()
    expect(await readdir(parent)).toEqual(['postgres'])
  })

  it('an incomplete first start is removed when its last program has ended', async () => {
    const unfinished = join(parent, 'postgres.new-0123')
    await mkdir(unfinished)
    const straggler = spawn('sh', ['-c', 'read -r end; mkdir -p "$2/base"', 'sh', '-D', unfinished, '-U', 'parley'])
    cleanups.push(() => ended(straggler, 'SIGKILL'))
    const starting = started()
    const { socketFolder } = await inspectSite(folder)
    const names = () => readdir(socketFolder).catch(() => [])
    await expect.poll(names).toContainEqual(expect.stringMatching(/^holder-/))
    straggler.stdin.end()
    await starting
    expect(await readdir(parent)).toEqual(['postgres'])
  })

  it('an orphaned server is stopped first', async () => {
    await copyStopped()
    const orphan = await startOrphan()
    const database = await started()
    await orphan.exited
    expect(await query(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('a record whose process id now belongs to another program does not prevent the start', async () => {
    await copyStopped()
    const { uid } = await stat(folder)
    const stranger = spawn('sleep', ['600'], isRoot ? { uid, gid: uid } : {})
    cleanups.push(() => ended(stranger, 'SIGKILL'))
    await writeFile(join(folder, 'postmaster.pid'), `${stranger.pid}\n${folder}\n1\n5432\n/nowhere\n\n 0 0\n`)
    expect(await query(await started(), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(stranger.signalCode).toBe(null)
  })
})

describe('the process that started the server', () => {
  it('stops the server when it is killed, and loses no committed data', async () => {
    await copyStopped()
    const service = await startService()
    await query(service.database, 'CREATE TABLE kept AS SELECT 1 AS number')
    const postmaster = await postmasterPid()
    await ended(service.child, 'SIGKILL')
    await expect.poll(() => isAlive(postmaster)).toBe(false)
    expect(await query(await started(), 'SELECT number FROM kept')).toEqual([{ number: 1 }])
  })

  it('can be replaced at once by another one', async () => {
    await copyStopped()
    const service = await startService()
    await query(service.database, 'CREATE TABLE kept AS SELECT 1 AS number')
    await ended(service.child, 'SIGKILL')
    expect(await query(await started(), 'SELECT number FROM kept')).toEqual([{ number: 1 }])
  })

  it('stops the first start when it is killed', async () => {
    const child = await spawnService()
    await expect.poll(() => readdir(parent)).toHaveLength(1)
    await ended(child, 'SIGKILL')
    expect(await query(await started(), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(await readdir(parent)).toEqual(['postgres'])
  })

  it('keeps the server when Ctrl-C interrupts the whole process group', async () => {
    await copyStopped()
    const service = await startService()
    const interrupted = once(createInterface({ input: service.child.stderr ?? process.stdin }), 'line')
    process.kill(-(service.child.pid ?? 0), 'SIGINT')
    expect(await interrupted).toEqual(['interrupted'])
    expect(await query(service.database, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    service.child.stdin?.end()
    expect(await once(service.child, 'exit')).toEqual([0, null])
  })
})

describe('findBinaries', () => {
  it('says what to do on an unsupported platform', async () => {
    await expectRefusal(findBinaries('plan9-mips'), 'no embedded PostgreSQL for plan9-mips: set PARLEY_DATABASE_URL')
  })

  it('repairs missing library links, also in two concurrent calls', async () => {
    await mkdir(join(parent, 'native', 'lib'), { recursive: true })
    const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
    await writeFile(join(parent, 'native', 'pg-symlinks.json'), JSON.stringify(links))
    await Promise.all([repairLinks(parent), repairLinks(parent)])
    await repairLinks(parent)
    expect(await readlink(join(parent, 'native', 'lib', 'libpq.so.5'))).toBe('libpq.so.5.18')
  })
})

// PostgreSQL refuses to run as root, so a service started by root must run it as another user.
describe.skipIf(!isRoot)('started by root', () => {
  it('the server runs as the user nobody below a folder that only root may enter', async () => {
    await chmod(parent, 0o700)
    await started()
    expect((await lstat(folder)).uid).toBe(nobody.uid)
  })

  it('the server runs as the user nobody below a folder that all may enter', async () => {
    await chmod(parent, 0o755)
    await started()
    expect((await lstat(folder)).uid).toBe(nobody.uid)
  })

  it('the server runs as the owner of a database that another user created', async () => {
    await copyStopped()
    await giveTo(12_345)
    await started()
    expect((await lstat(join(folder, 'base'))).uid).toBe(12_345)
  })

  it('the server takes over a database that belongs to root', async () => {
    await copyStopped()
    await giveTo(0)
    await started()
    expect((await lstat(join(folder, 'base'))).uid).toBe(nobody.uid)
  })
})

async function started(): Promise<EmbeddedDatabase> {
  const database = await startEmbeddedDatabase({ folder, settings })
  cleanups.push(database.stop)
  return database
}

/** Copies the stopped database to the folder. */
async function copyStopped(): Promise<void> {
  await promisify(execFile)('cp', ['-a', stopped, folder])
}

async function restarted(): Promise<EmbeddedDatabase> {
  await copyStopped()
  return started()
}

async function opened(): Promise<EmbeddedDatabase> {
  const database = await openEmbeddedDatabase({ folder, settings })
  cleanups.push(database.stop)
  return database
}

async function query({ connection }: Pick<EmbeddedDatabase, 'connection'>, text: string): Promise<unknown[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function expectRefusal(attempt: Promise<unknown>, text: string): Promise<void> {
  const error = await attempt.catch((error: unknown) => error)
  expect(error).toBeInstanceOf(EmbeddedDatabaseError)
  expect((error as Error).message).toContain(text)
  expect((error as Error).message).not.toContain('\n')
}

async function postmasterPid(): Promise<number> {
  return Number.parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8'), 10)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

/** A server on the folder without an owner: the state after only the watchdog was killed. */
async function startOrphan() {
  const site = await inspectSite(folder)
  const binaries = await findBinaries()
  const { account } = await chooseAccount(site, binaries.postgres)
  await openSocketFolder(site, account.owner ?? { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 })
  const orphan = await startServer({ site, account, binaries, settings, log: () => {} })
  cleanups.push(async () => orphan.interrupt())
  return orphan
}

async function giveTo(uid: number): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true })) await chown(join(folder, entry), uid, uid)
  await chown(folder, uid, uid)
}

let compiled: Promise<string> | undefined

afterAll(async () => {
  if (compiled) await rm(await compiled, { recursive: true, force: true })
})

/**
 * The supervisor as JavaScript, in a folder from which packages can be imported, so that another process can run it
 * before a build.
 */
async function compileSupervisor(): Promise<string> {
  const cache = join(repository, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const target = await mkdtemp(join(cache, 'parley-embedded-'))
  await writeFile(join(target, 'package.json'), '{"type":"module"}')
  const filesIn = async (room: string) => (await readdir(join(repository, 'src', room))).map((name) => join(room, name))
  const files = [
    join('database', 'embedded.ts'),
    ...(await filesIn(join('database', 'embedded'))),
    ...(await filesIn(join('lib', 'files'))),
  ]
  for (const name of files) {
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }
    const { outputText } = ts.transpileModule(await readFile(join(repository, 'src', name), 'utf8'), {
      compilerOptions,
    })
    await mkdir(dirname(join(target, name)), { recursive: true })
    await writeFile(join(target, name.replace(/ts$/, 'js')), outputText)
  }
  await writeFile(join(target, 'service.js'), SERVICE)
  return target
}

/** Serves the given folder until its standard input ends; reports an interruption. */
const SERVICE = `
import { startEmbeddedDatabase } from './database/embedded.js'
process.on('SIGINT', () => process.stderr.write('interrupted\\n'))
const database = await startEmbeddedDatabase({ folder: process.argv[2] })
process.stdout.write(JSON.stringify(database.connection) + '\\n')
process.stdin.on('end', () => database.stop()).resume()
`

async function spawnService(): Promise<ChildProcess> {
  compiled ??= compileSupervisor()
  const child = spawn(process.execPath, [join(await compiled, 'service.js'), folder], { detached: true, stdio: 'pipe' })
  cleanups.push(() => ended(child, 'SIGKILL'))
  return child
}

async function startService() {
  const child = await spawnService()
  const [line] = await once(createInterface({ input: child.stdout ?? process.stdin }), 'line')
  return { child, database: { connection: JSON.parse(line) as EmbeddedDatabase['connection'] } }
}
