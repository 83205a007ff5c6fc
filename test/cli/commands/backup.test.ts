import { cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startEmbeddedDatabase } from '../../../src/database/embedded.js'
import { openDatabase } from '../../../src/database/pool.js'
import { makeFolder, type Result, run } from '../support.js'

const SECRETS = `${JSON.stringify({ PARLEY_ADMIN_TOKEN: 'a'.repeat(40), PARLEY_SECRET: 'b'.repeat(40) })}\n`

let parent: Awaited<ReturnType<typeof makeFolder>>
let dataDir: string
let backups: string
let target: string
let targets = 0

beforeAll(async () => {
  parent = await makeFolder()
  dataDir = join(parent.path, 'data')
  backups = join(parent.path, 'backups')
  await parley('migrate')
  await parley('org', 'create', '--name', 'Acme', '--slug', 'acme', '--country', 'BR')
  await writeFile(join(dataDir, 'secrets.json'), SECRETS, { mode: 0o600 })
  await mkdir(join(dataDir, 'media', 'org'), { recursive: true })
  await writeFile(join(dataDir, 'media', 'org', 'one'), 'the bytes of a file')
  await backUp()
})

afterAll(() => parent.remove())

beforeEach(() => {
  target = join(parent.path, `restored-${++targets}`)
})

const env = (folder: string) => ({ PARLEY_DATA_DIR: folder, PARLEY_LOG_LEVEL: 'error' })
const parley = (...args: string[]): Promise<Result> => run(args, env(dataDir))
const restore = (...args: string[]): Promise<Result> => run(['restore', ...args], env(target))

async function backUp(...args: string[]) {
  const taken = await parley('backup', '--to', backups, '--json', ...args)
  expect(taken).toMatchObject({ code: 0 })
  return { ...taken.json(), err: taken.err }
}

async function objects(folder = backups): Promise<string[]> {
  const names = await readdir(join(folder, 'objects'), { recursive: true })
  return names.filter((name) => name.includes('/')).sort()
}

describe('parley backup', () => {
  it('holds database, files and secrets, which a restore brings back', async () => {
    const { name, err, hasSecrets } = await backUp()
    expect(hasSecrets).toBe(true)
    expect(err).toContain('now holds the secrets of this service')
    expect((await stat(backups)).mode & 0o777).toBe(0o700)
    const restored = await restore(backups, '--json')
    expect(restored).toMatchObject({ code: 0 })
    expect(restored.json()).toMatchObject({ dataDir: target, hasMedia: true, replaced: null })
    expect((await stat(join(target, 'secrets.json'))).mode & 0o777).toBe(0o600)
    expect(await readFile(join(target, 'secrets.json'), 'utf8')).toBe(SECRETS)
    expect(await readFile(join(target, 'media', 'org', 'one'), 'utf8')).toBe('the bytes of a file')
    expect((await run(['org', 'list', '--json'], env(target))).json()).toMatchObject([{ slug: 'acme' }])
    expect((await run(['verify'], env(target))).out).toContain('everything agrees')
    expect((await readdir(target)).sort()).toEqual(['media', 'postgres', 'secrets.json'])
    expect(name).toMatch(/^\d{8}T\d{9}Z$/)
  })

  it('leaves the secrets out if PARLEY_SECRET is set', async () => {
    const elsewhere = join(parent.path, 'without-secrets')
    const result = await run(['backup', '--to', elsewhere, '--json'], {
      ...env(dataDir),
      PARLEY_SECRET: 'c'.repeat(40),
    })
    expect(result.json()).toMatchObject({ hasSecrets: false })
    expect(result.err).toContain('PARLEY_SECRET is not in the backup')
    await restore(elsewhere)
    expect((await readdir(target)).sort()).toEqual(['media', 'postgres'])
  })

  it('runs beside a server in use, and shares what did not change with earlier backups', async () => {
    const before = await objects()
    const server = await startEmbeddedDatabase({ folder: join(dataDir, 'postgres') })
    await backUp()
    await server.stop()
    const added = (await objects()).filter((name) => !before.includes(name))
    expect(added.length).toBeGreaterThan(0)
    expect(added.length).toBeLessThan(before.length / 4)
  })

  it('keeps the newest backups, and the objects that they need', async () => {
    const before = await objects()
    const { name, removed } = await backUp('--keep', '1')
    expect(removed.length).toBeGreaterThan(0)
    expect((await readdir(backups)).filter((file) => file.endsWith('.manifest'))).toEqual([`${name}.manifest`])
    expect((await objects()).length).toBeLessThan(before.length)
    expect(await parley('backup', 'verify', backups)).toMatchObject({ code: 0 })
  })

  it('is verified in a scratch server, which leaves nothing behind', async () => {
    const before = await readdir(backups)
    const { code, out } = await parley('backup', 'verify', backups)
    expect(code).toBe(0)
    expect(out).toMatch(/rows verified in .*: everything agrees\nBackup \S+ is complete and can be restored\n$/)
    expect(await readdir(backups)).toEqual(before)
  })

  it('is left to the server if the database is external', async () => {
    for (const args of [['backup'], ['backup', 'verify'], ['restore', backups]]) {
      const refused = await run(args, { ...env(dataDir), PARLEY_DATABASE_URL: 'postgres://127.0.0.1:1/none' })
      expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('docs/backup.md') })
    }
  })
})

describe('parley restore', () => {
  it('continues an interrupted restore with the files that it lacks', async () => {
    const { name } = await backUp()
    const growing = join(target, 'restoring', name)
    await mkdir(join(growing, 'media', 'org'), { recursive: true })
    await writeFile(join(growing, 'media', 'org', 'one'), 'THE BYTES OF A FILE')
    await writeFile(join(growing, 'secrets.json.part'), 'half')
    expect(await restore(backups)).toMatchObject({ code: 0 })
    expect(await readFile(join(target, 'media', 'org', 'one'), 'utf8')).toBe('THE BYTES OF A FILE')
    expect(await readFile(join(target, 'secrets.json'), 'utf8')).toBe(SECRETS)
  })

  it('prints the broadcasts that the service will pause, with the recipients that have no message', async () => {
    const elsewhere = join(parent.path, 'with-broadcasts')
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
    expect(await parley('backup', '--to', elsewhere)).toMatchObject({ code: 0 })
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

  it('finishes one that was interrupted while it moved the parts', async () => {
    const { name } = await backUp()
    expect(await restore(backups)).toMatchObject({ code: 0 })
    const growing = join(target, 'restoring', name)
    await mkdir(growing, { recursive: true })
    await writeFile(join(growing, 'complete'), '')
    await writeFile(join(growing, 'up.json'), '{}')
    expect(await restore(backups)).toMatchObject({ code: 0 })
    expect((await readdir(target)).sort()).toEqual(['media', 'postgres', 'secrets.json', 'up.json'])
  })

  it('refuses a folder with data, unless it is told to move that aside', async () => {
    await mkdir(target)
    await writeFile(join(target, 'secrets.json'), '{}')
    const refused = await restore(backups)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is not empty (secrets.json)') })
    expect(await readdir(target)).toEqual(['secrets.json'])
    const { replaced } = (await restore(backups, '--replace', '--json')).json()
    expect(await readFile(join(replaced, 'secrets.json'), 'utf8')).toBe('{}')
    expect(await readFile(join(target, 'secrets.json'), 'utf8')).toBe(SECRETS)
  })

  it('refuses while a service runs on the folder', async () => {
    const server = await startEmbeddedDatabase({ folder: join(dataDir, 'postgres') })
    expect(await run(['restore', backups, '--replace'], env(dataDir))).toMatchObject({
      code: 1,
      err: expect.stringContaining('stop it first'),
    })
    await server.stop()
  })

  it('refuses what is no backup', async () => {
    for (const path of [join(parent.path, 'nowhere'), dataDir, join(backups, '20200101T000000000Z')]) {
      expect(await restore(path)).toMatchObject({ code: 2, err: expect.stringContaining('no complete backup') })
    }
  })
})

describe('a damaged backup', () => {
  let only: string

  beforeAll(async () => {
    only = join(parent.path, 'only')
    await parley('backup', '--to', only)
  })

  it.each<[what: string, damage: (damaged: string) => Promise<void>]>([
    ['an object was cut', async (damaged) => truncate(await largestObject(damaged), 10)],
    ['an object is missing', async (damaged) => rm(await largestObject(damaged))],
    ['an object has other bytes', async (damaged) => flip(await largestObject(damaged))],
    ['the manifest was cut', (damaged) => changeManifest(damaged, (text) => text.slice(0, 1_000))],
    ['a name was changed', (damaged) => changeManifest(damaged, (text) => text.replace('org/one', 'org/two'))],
    [
      'a name leads out of the folder',
      (damaged) => changeManifest(damaged, (text) => text.replace('media/org', '../org')),
    ],
  ])('is refused before anything is written if %s', async (_, damage) => {
    const damaged = join(parent.path, `damaged-${targets}`)
    await cp(only, damaged, { recursive: true, verbatimSymlinks: true })
    await damage(damaged)
    expect(await restore(damaged)).toMatchObject({ code: 1, err: expect.stringContaining('the backup is damaged') })
    expect(await readdir(target)).toEqual([])
  })

  it('is found by parley backup verify', async () => {
    const damaged = join(parent.path, 'damaged')
    await cp(only, damaged, { recursive: true, verbatimSymlinks: true })
    await flip(await largestObject(damaged))
    const { code, err } = await parley('backup', 'verify', damaged)
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('the backup is damaged') })
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

async function largestObject(folder: string): Promise<string> {
  const sizes = await Promise.all(
    (await objects(folder)).map(async (name) => {
      const path = join(folder, 'objects', name)
      return { path, size: (await stat(path)).size }
    }),
  )
  const [largest] = sizes.sort((one, other) => other.size - one.size)
  return largest?.path ?? ''
}

async function flip(path: string): Promise<void> {
  const bytes = await readFile(path)
  bytes[5] = (bytes[5] ?? 0) ^ 1
  await writeFile(path, bytes)
}

async function changeManifest(folder: string, change: (text: string) => string): Promise<void> {
  const name = (await readdir(folder)).find((file) => file.endsWith('.manifest')) ?? ''
  await writeFile(join(folder, name), change(await readFile(join(folder, name), 'utf8')))
}
