import { mkdir, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { runCli } from '../../../src/cli/program.js'
import { noteBackup, startEmbeddedDatabase } from '../../../src/database/embedded.js'
import { openDatabase } from '../../../src/database/pool.js'
import { makeFolder, type Result, run } from '../../support/cli.js'

const SECRETS = `${JSON.stringify({ PARLEY_ADMIN_TOKEN: 'a'.repeat(40), PARLEY_SECRET: 'b'.repeat(40) })}\n`

let parent: Awaited<ReturnType<typeof makeFolder>>
let dataDir: string
let backups: string
let archive: string
let target: string
let targets = 0

beforeAll(async () => {
  parent = await makeFolder()
  dataDir = join(parent.path, 'data')
  backups = join(parent.path, 'backups')
  archive = join(backups, 'parley.tar')
  await mkdir(backups)
  await parley('migrate')
  await parley('org', 'create', '--name', 'Acme', '--slug', 'acme', '--country', 'BR')
  await writeFile(join(dataDir, 'secrets.json'), SECRETS, { mode: 0o600 })
  await mkdir(join(dataDir, 'media', 'org'), { recursive: true })
  await writeFile(join(dataDir, 'media', 'org', 'one'), 'the bytes of a file')
  expect(await parley('backup', archive)).toMatchObject({ code: 0 })
})

afterAll(() => parent.remove())

beforeEach(() => {
  target = join(parent.path, `restored-${++targets}`)
})

const env = (folder: string) => ({ PARLEY_DATA_DIR: folder, PARLEY_LOG_LEVEL: 'error' })
const parley = (...args: string[]): Promise<Result> => run(args, env(dataDir))
const restore = (...args: string[]): Promise<Result> => run(['restore', ...args], env(target))

describe('parley backup', () => {
  it('holds database, files and secrets, which a restore brings back', async () => {
    const file = join(backups, 'whole.tar')
    const taken = await parley('backup', file, '--json')
    expect(taken).toMatchObject({ code: 0, err: expect.stringContaining('now holds the secrets of this service') })
    expect(taken.json()).toEqual({ file, point: expect.any(String), hasMedia: true, hasSecrets: true })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const restored = await restore(file, '--json')
    expect(restored).toMatchObject({ code: 0 })
    expect(restored.json()).toMatchObject({
      dataDir: target,
      point: taken.json().point,
      hasMedia: true,
      replaced: null,
    })
    expect((await stat(join(target, 'secrets.json'))).mode & 0o777).toBe(0o600)
    expect(await readFile(join(target, 'secrets.json'), 'utf8')).toBe(SECRETS)
    expect(await readFile(join(target, 'media', 'org', 'one'), 'utf8')).toBe('the bytes of a file')
    expect((await run(['org', 'list', '--json'], env(target))).json()).toMatchObject([{ slug: 'acme' }])
    expect((await run(['verify'], env(target))).out).toContain('everything agrees')
    expect((await readdir(target)).sort()).toEqual(['media', 'postgres', 'secrets.json'])
  })

  it('tells doctor how old the last backup is', async () => {
    const backup = async () => {
      const reports = (await parley('doctor', '--json')).json() as { check: string; level: string; found: string }[]
      return reports.find(({ check }) => check === 'backup')
    }
    expect(await parley('backup', join(backups, 'noted.tar'))).toMatchObject({ code: 0 })
    expect(await backup()).toMatchObject({ level: 'ok', found: 'the last one is 0 h old' })
    await noteBackup(dataDir, new Date(Date.now() - 50 * 3_600_000))
    expect(await backup()).toMatchObject({ level: 'warning', found: 'the last one is 50 h old' })
    await rm(join(dataDir, 'last-backup'))
    expect(await backup()).toMatchObject({ level: 'ok', found: 'none was made with parley backup' })
  })

  it('leaves the secrets out if PARLEY_SECRET is set', async () => {
    const file = join(backups, 'without-secrets.tar')
    const result = await run(['backup', file, '--json'], { ...env(dataDir), PARLEY_SECRET: 'c'.repeat(40) })
    expect(result.json()).toMatchObject({ hasSecrets: false })
    expect(result.err).toContain('PARLEY_SECRET is not in the backup')
    await restore(file)
    expect((await readdir(target)).sort()).toEqual(['media', 'postgres'])
  })

  it('runs beside a server in use, to standard output and from standard input', async () => {
    const server = await startEmbeddedDatabase({ folder: join(dataDir, 'postgres') })
    const taken = await parley('backup', '-')
    await server.stop()
    expect(taken).toMatchObject({ code: 0, err: expect.stringMatching(/^file +standard output$/m) })
    expect(await run(['restore', '-'], env(target), taken.bytes)).toMatchObject({ code: 0 })
    expect((await run(['org', 'list', '--json'], env(target))).json()).toMatchObject([{ slug: 'acme' }])
  })

  it('replaces a file only if it is told to', async () => {
    const file = join(backups, 'there.tar')
    await writeFile(file, 'older')
    expect(await parley('backup', file)).toMatchObject({ code: 1, err: expect.stringContaining('--replace') })
    expect(await readFile(file, 'utf8')).toBe('older')
    expect(await parley('backup', file, '--replace')).toMatchObject({ code: 0 })
    expect((await stat(file)).size).toBeGreaterThan(1_000_000)
    expect(await parley('backup', backups, '--replace')).toMatchObject({ code: 2 })
  })

  it('leaves nothing if it fails', async () => {
    const before = await readdir(backups)
    await mkdir(join(dataDir, 'up.json'))
    expect(await parley('backup', join(backups, 'failed.tar'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('EISDIR'),
    })
    await rmdir(join(dataDir, 'up.json'))
    expect(await readdir(backups)).toEqual(before)
    const nowhere = join(backups, 'missing', 'parley.tar')
    expect(await parley('backup', nowhere)).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be written'),
    })
  })

  it.each([
    ['ENOSPC', 'The disk is full, and standard output was not written: make room and run the command again'],
    ['EPIPE', 'Standard output was not read to its end: the archive is not complete'],
  ])('says in one line what %s means', async (code, line) => {
    const error = Object.assign(new Error(code), { code })
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(error) })
    const stderr = new PassThrough()
    const err = text(stderr)
    expect(await runCli(['backup', '-'], env(dataDir), { stdin: Readable.from([]), stdout, stderr })).toBe(1)
    stderr.end()
    expect(await err).toBe(`parley: ${line}\n`)
  })

  it('is left to the server if the database is external', async () => {
    for (const args of [
      ['backup', archive],
      ['backup', 'verify', archive],
      ['restore', archive],
    ]) {
      const refused = await run(args, { ...env(dataDir), PARLEY_DATABASE_URL: 'postgres://127.0.0.1:1/none' })
      expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('docs/backup.md') })
    }
  })
})

describe('parley backup verify', () => {
  let temporary: string

  beforeEach(async () => {
    temporary = join(parent.path, 'tmp')
    await mkdir(temporary, { recursive: true })
    vi.stubEnv('TMPDIR', temporary)
  })

  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it('restores it into a scratch server, which leaves nothing behind', async () => {
    const { code, out } = await parley('backup', 'verify', archive)
    expect(code).toBe(0)
    expect(out).toMatch(/rows verified in .*: everything agrees\nThe archive is complete and can be restored\n$/)
    expect(await readdir(temporary)).toEqual([])
  })

  it('finds one that is damaged, and one whose rows do not agree', async () => {
    const damaged = await writeDamaged((bytes) => flip(bytes, bytes.length >> 1))
    expect(await parley('backup', 'verify', damaged)).toMatchObject({
      code: 1,
      err: expect.stringContaining('The archive is damaged'),
    })
    const query = await openData()
    await query("INSERT INTO campaign_counts VALUES (gen_random_uuid(), gen_random_uuid(), 'total', '', 1)")
    await query.end()
    const file = join(backups, 'wrong.tar')
    await parley('backup', file)
    const cleared = await openData()
    await cleared('DELETE FROM campaign_counts')
    await cleared.end()
    const { code, out, err } = await parley('backup', 'verify', file)
    expect({ code, out, err }).toMatchObject({
      code: 1,
      out: expect.stringContaining('no_organization'),
      err: expect.stringContaining('The archive has 1 violations'),
    })
    expect(await readdir(temporary)).toEqual([])
  })
})

describe('parley restore', () => {
  it('prints the broadcasts that the service will pause, with the recipients that have no message', async () => {
    const elsewhere = join(parent.path, 'with-broadcasts.tar')
    const query = await openData()
    await query(`INSERT INTO broadcasts (organization_id, id, kind, name, template_name, template_language, template, status,
        scheduled_at, prepared_at, created_at)
      SELECT id, gen_random_uuid(), 'broadcast', given.name, 't', 'en', '{}', status, now() + hours * interval '1 hour',
        CASE WHEN given.name <> 'Growing' THEN now() END, now()
      FROM organizations CROSS JOIN (VALUES ('Now', 'running', NULL), ('Due', 'scheduled', -1), ('Growing', 'running', NULL),
        ('Later', 'scheduled', 1), ('Held', 'paused', NULL), ('Done', 'completed', NULL)) given (name, status, hours)`)
    await query(`INSERT INTO campaign_counts (organization_id, campaign_id, counter, detail, value)
      SELECT organization_id, id, counter, '', value FROM broadcasts CROSS JOIN (VALUES ('total', 5), ('recorded', 2)) c (counter, value)`)
    await query.end()
    expect(await parley('backup', elsewhere)).toMatchObject({ code: 0 })
    const cleared = await openData()
    await cleared('DELETE FROM campaign_counts')
    await cleared('DELETE FROM broadcasts')
    await cleared.end()

    const { interruptedBroadcasts } = (await restore(elsewhere, '--json')).json()
    expect(interruptedBroadcasts).toHaveLength(3)
    expect(interruptedBroadcasts).toEqual(
      expect.arrayContaining([
        {
          id: expect.any(String),
          name: 'Now',
          organization: 'acme',
          status: 'running',
          withoutMessage: 3,
          prepared: true,
        },
        {
          id: expect.any(String),
          name: 'Due',
          organization: 'acme',
          status: 'scheduled',
          withoutMessage: 3,
          prepared: true,
        },
        {
          id: expect.any(String),
          name: 'Growing',
          organization: 'acme',
          status: 'running',
          withoutMessage: 3,
          prepared: false,
        },
      ]),
    )
    const { out, err } = await restore(elsewhere, '--replace')
    expect(err).toContain('until somebody resumes or cancels them')
    expect(out).toMatch(/^organization +id +name +status +recipients_without_message$/m)
    expect(out).toMatch(/^acme +\S+ +Now +running +3$/m)
    expect(out).toMatch(/^acme +\S+ +Growing +running +at least 3$/m)
    const listed = (await run(['broadcasts', 'list', '--status', 'running', '--json'], env(target))).json()
    expect(listed.map(({ name }: { name: string }) => name).sort()).toEqual(['Growing', 'Now'])
  })

  it('refuses a folder with data, unless it is told to move that aside', async () => {
    await mkdir(target)
    await writeFile(join(target, 'secrets.json'), '{}')
    const refused = await restore(archive)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is not empty (secrets.json)') })
    expect(await readdir(target)).toEqual(['secrets.json'])
    const { replaced } = (await restore(archive, '--replace', '--json')).json()
    expect(await readFile(join(replaced, 'secrets.json'), 'utf8')).toBe('{}')
    expect(await readFile(join(target, 'secrets.json'), 'utf8')).toBe(SECRETS)
    const again = (await restore(archive, '--replace', '--json')).json()
    expect((await readdir(again.replaced)).sort()).toEqual(['media', 'postgres', 'secrets.json'])
  })

  it('refuses while a service runs on the folder', async () => {
    const server = await startEmbeddedDatabase({ folder: join(dataDir, 'postgres') })
    expect(await run(['restore', archive, '--replace'], env(dataDir))).toMatchObject({
      code: 1,
      err: expect.stringContaining('stop it first'),
    })
    await server.stop()
  })

  it('starts again after one that was killed, which no service starts on', async () => {
    await mkdir(join(target, 'restoring', 'postgres'), { recursive: true })
    await writeFile(join(target, 'restoring', 'postgres', 'PG_VERSION'), '18')
    await writeFile(join(target, 'secrets.json'), '{}')
    await writeFile(join(target, 'restore-is-unfinished'), '')
    expect(await run(['org', 'list'], env(target))).toMatchObject({
      code: 2,
      err: expect.stringContaining('was interrupted: run it again, with --replace'),
    })
    expect(await restore(archive, '--replace')).toMatchObject({ code: 0 })
    expect(await readFile(join(target, 'secrets.json'), 'utf8')).toBe(SECRETS)
    expect((await readdir(target)).sort()).toEqual([
      ...['media', 'postgres', expect.stringMatching(/^replaced-at-/), 'secrets.json'],
    ])
  })

  it('refuses what is no file', async () => {
    for (const path of [join(parent.path, 'nowhere'), dataDir]) {
      expect(await restore(path)).toMatchObject({ code: 2, err: expect.stringContaining('There is no archive') })
    }
  })

  it.each<[what: string, damage: (bytes: Buffer) => Buffer]>([
    ['it was cut', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['a byte was changed', (bytes) => flip(bytes, bytes.length >> 1)],
  ])('changes nothing if %s', async (_, damage) => {
    await mkdir(target)
    await writeFile(join(target, 'secrets.json'), '{}')
    expect(await restore(await writeDamaged(damage), '--replace')).toMatchObject({
      code: 1,
      err: expect.stringContaining('The archive is damaged'),
    })
    expect(await readdir(target)).toEqual(['secrets.json'])
    expect(await readFile(join(target, 'secrets.json'), 'utf8')).toBe('{}')
  })
})

/** The database of the data folder, until `end`. */
async function openData() {
  const server = await startEmbeddedDatabase({ folder: join(dataDir, 'postgres') })
  const database = openDatabase(server.connection, 1, () => undefined)
  const end = async () => {
    await database.close()
    await server.stop()
  }
  return Object.assign((text: string) => database.pool.query(text), { end })
}

/** A copy of the archive that was changed. */
async function writeDamaged(damage: (bytes: Buffer) => Buffer): Promise<string> {
  const file = join(parent.path, 'damaged.tar')
  await rm(file, { force: true })
  await writeFile(file, damage(await readFile(archive)))
  return file
}

function flip(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes
}
