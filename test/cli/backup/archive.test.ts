import { appendFileSync, truncateSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Archive, type BackupHead, beginArchive, unpackArchive } from '../../../src/cli/backup/archive.js'
import { createProgress } from '../../../src/cli/progress.js'
import { makeFolder } from '../../support/cli.js'

const HEAD: BackupHead = { format: 1, parley: '1.2.3', point: '2026-11-23T23:22:44.123Z', hasMedia: true }
const MEBIBYTE = 1_048_576
const progress = createProgress(process, true)

let folder: Awaited<ReturnType<typeof makeFolder>>
let target: string

beforeAll(async () => {
  folder = await makeFolder()
})

afterAll(() => folder.remove())

beforeEach(async () => {
  target = join(folder.path, 'target')
  await rm(target, { recursive: true, force: true })
  await mkdir(target)
})

/** The bytes of an archive; `onWrite` is called before each write. */
async function write(fill: (archive: Archive) => Promise<void>, onWrite = () => {}): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const archive = beginArchive(async (chunk) => {
    onWrite()
    chunks.push(chunk)
  }, progress)
  await fill(archive)
  await archive.seal(HEAD)
  return Buffer.concat(chunks)
}

const unpack = (bytes: Buffer, scratch = false) => {
  const chunks = Array.from({ length: Math.ceil(bytes.length / 10_001) }, (_, n) =>
    bytes.subarray(n * 10_001, n * 10_001 + 10_001),
  )
  return unpackArchive(Readable.from(chunks), target, progress, { scratch })
}

const addText = (archive: Archive, name: string, text: string) => archive.add(name, text.length, [Buffer.from(text)])

const small = () =>
  write(async (archive) => {
    await addText(archive, 'postgres/PG_VERSION', '18\n')
    await archive.add('postgres/pg_wal/', 0, [])
    await addText(archive, 'media/org/one', 'the bytes of a file')
    await addText(archive, 'secrets.json', '{}')
  })

describe('an archive', () => {
  it('brings back names, folders and contents, open to their owner only', async () => {
    expect(await unpack(await small())).toMatchObject(HEAD)
    expect((await readdir(target, { recursive: true })).sort()).toEqual([
      ...['media', 'media/org', 'media/org/one', 'postgres', 'postgres/PG_VERSION', 'postgres/pg_wal', 'secrets.json'],
    ])
    expect(await readFile(join(target, 'media', 'org', 'one'), 'utf8')).toBe('the bytes of a file')
    expect((await stat(join(target, 'secrets.json'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(target, 'media'))).mode & 0o777).toBe(0o700)
  })

  it('is unpacked for a trial with the sizes of files of messages, without their bytes', async () => {
    await unpack(await small(), true)
    expect(await readFile(join(target, 'media', 'org', 'one'), 'utf8')).toBe('\0'.repeat('the bytes of a file'.length))
    expect(await readFile(join(target, 'postgres', 'PG_VERSION'), 'utf8')).toBe('18\n')
  })

  it.each([
    ['is cut', (path: string) => truncateSync(path, MEBIBYTE), 0],
    ['grows', (path: string) => appendFileSync(path, 'more'), 7],
  ])('holds a file that %s meanwhile with the size that it had', async (_, change, lastByte) => {
    const path = join(folder.path, 'changing')
    // More than waits to be written, so the end is read after the change.
    await writeFile(path, Buffer.alloc(20 * MEBIBYTE, 7))
    let isChanged = false
    const bytes = await write(
      async (archive) => {
        expect(await archive.addFile('postgres/base/1', path)).toBe(true)
      },
      () => {
        if (!isChanged) change(path)
        isChanged = true
      },
    )
    await unpack(bytes)
    const unpacked = await readFile(join(target, 'postgres', 'base', '1'))
    expect(unpacked.length).toBe(20 * MEBIBYTE)
    expect([unpacked[0], unpacked.at(-1)]).toEqual([7, lastByte])
  })

  it('does without a file that has gone', async () => {
    const bytes = await write(async (archive) => {
      expect(await archive.addFile('media/org/gone', join(folder.path, 'gone'))).toBe(false)
    })
    expect(await unpack(bytes)).toMatchObject(HEAD)
    expect(await readdir(target)).toEqual([])
  })

  it('ends with the error of what writes it', async () => {
    const archive = beginArchive(() => Promise.reject(new Error('no room')), progress)
    const path = join(folder.path, 'large')
    await writeFile(path, Buffer.alloc(20 * MEBIBYTE))
    await expect(archive.addFile('postgres/large', path)).rejects.toThrow('no room')
  })

  it('is given up if it cannot be written', async () => {
    const archive = beginArchive(() => new Promise(() => undefined), progress, 10)
    await expect(archive.seal(HEAD)).rejects.toThrow('the backup was given up')
  })
})

describe('what is not a whole archive is refused', () => {
  const changed = (change: (bytes: Buffer) => Buffer) => async () => change(await small())
  const foreign = (name: string) => async () => Buffer.from(await packTar([{ header: { name, size: 1 }, body: 'x' }]))
  const SEAL_BLOCKS = 4 * 512

  it.each<[what: string, make: () => Promise<Buffer>, reason: string]>([
    ['nothing', async () => Buffer.alloc(0), 'truncated'],
    ['a text', async () => Buffer.from('no archive\n'.repeat(100)), 'damaged'],
    ['an empty tar file', async () => Buffer.from(await packTar([])), 'it ends early'],
    ['another tar file', foreign('etc/passwd'), 'it holds "etc/passwd"'],
    ['a compressed archive', changed((bytes) => gzipSync(bytes)), 'damaged'],
    ['a name that leads out', foreign('media/../../x'), 'it holds "media/../../x"'],
    ['a name that leads to the folder', foreign('media/./x'), 'it holds "media/./x"'],
    ['an absolute name', foreign('/postgres/x'), 'it holds "/postgres/x"'],
    [
      'a link',
      async () =>
        Buffer.from(await packTar([{ header: { name: 'postgres/x', size: 0, type: 'symlink', linkname: '/' } }])),
      'it holds "postgres/x"',
    ],
    ['one that was cut in a file', changed((bytes) => bytes.subarray(0, 600)), 'truncated'],
    ['one that was cut between files', changed((bytes) => bytes.subarray(0, 1_024)), 'damaged'],
    ['one without its end', changed((bytes) => bytes.subarray(0, bytes.length - SEAL_BLOCKS)), 'damaged'],
    ['one with another byte', changed((bytes) => replace(bytes, 'bytes of a file', 'bytes of b file')), 'was changed'],
    ['one with another seal', changed((bytes) => replace(bytes, '"format":1', '"format":2')), 'cannot be read'],
    ['two in one', async () => Buffer.concat([(await small()).subarray(0, -1_024), await small()]), 'follows its end'],
  ])('%s', async (_, make, reason) => {
    const refused = unpack(await make())
    await expect(refused).rejects.toThrow('The archive is damaged, or no backup of Parley')
    await expect(refused).rejects.toThrow(reason)
    expect(await readdir(folder.path)).not.toContain('x')
  })
})

function replace(bytes: Buffer, from: string, to: string): Buffer {
  const at = bytes.indexOf(from)
  expect(at).toBeGreaterThan(0)
  bytes.write(to, at)
  return bytes
}
