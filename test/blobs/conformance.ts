import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BlobStore, ByteRange } from '../../src/blobs/blob-store.js'

const MEGABYTE = 1_048_576

/** The tests of every blob store. `open` opens the store; a second call opens another store over the same place. */
export function describeBlobStore(name: string, open: () => BlobStore): void {
  let store: BlobStore
  let folder: string
  let files = 0

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-blobs-'))
    store = open()
  })

  afterAll(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function fileOf(bytes: Buffer | string): Promise<string> {
    const path = join(folder, String(++files))
    await writeFile(path, bytes)
    return path
  }

  async function put(key: string, bytes: Buffer | string): Promise<void> {
    await store.put(key, await fileOf(bytes), 'image/png')
  }

  async function read(key: string, range?: ByteRange): Promise<Buffer | null> {
    const stream = await store.open(key, range)
    return stream && buffer(stream)
  }

  describe(name, () => {
    it('gives back what was put, and leaves the file where it was', async () => {
      const path = await fileOf('some bytes')
      await store.put('org/small', path, 'text/plain')
      await rm(path)
      expect(String(await read('org/small'))).toBe('some bytes')
    })

    it('keeps an empty file', async () => {
      await put('org/empty', '')
      expect(await read('org/empty')).toEqual(Buffer.alloc(0))
    })

    it('tells sizes, and lists the keys of a folder', async () => {
      const keys = Array.from({ length: 12 }, (_, index) => `listed/${index}`).sort()
      for (const key of keys) await put(key, 'x'.repeat(Number(key.slice(7))))
      await put('listed-too/1', 'x')
      const some = keys.slice(3, 7)
      expect(await store.sizes(some)).toEqual(some.map((key) => Number(key.slice(7))))
      expect(await store.sizes(['listed/11', 'listed/110', 'listed/12'])).toEqual([11, null, null])
      expect(await store.sizes(['absent/1'])).toEqual([null])
      expect(await store.sizes([])).toEqual([])
      const listed: string[] = []
      for await (const page of store.list('listed')) listed.push(...page)
      expect(listed.sort()).toEqual(keys)
      for await (const page of store.list('absent')) expect(page).toEqual([])
    })

    it('keeps 20 MB', async () => {
      const bytes = randomBytes(20 * MEGABYTE)
      await put('org/large', bytes)
      expect((await read('org/large'))?.equals(bytes)).toBe(true)
      const middle = { start: 7 * MEGABYTE + 1, end: 9 * MEGABYTE }
      expect((await read('org/large', middle))?.equals(bytes.subarray(middle.start, middle.end + 1))).toBe(true)
    })

    it.each([
      ['the first byte', 0, 0, '0'],
      ['the beginning', 0, 1, '01'],
      ['the middle', 3, 6, '3456'],
      ['the last byte', 9, 9, '9'],
      ['all', 0, 9, '0123456789'],
    ])('gives a range: %s', async (_what, start, end, expected) => {
      await put('org/digits', '0123456789')
      expect(String(await read('org/digits', { start, end }))).toBe(expected)
    })

    it('replaces what is kept, also by the same file', async () => {
      await put('org/replaced', 'first, and longer')
      const path = await fileOf('second')
      await store.put('org/replaced', path, 'text/plain')
      await store.put('org/replaced', path, 'text/plain')
      expect(String(await read('org/replaced'))).toBe('second')
    })

    it('has null for what is missing', async () => {
      await put('org/there', 'x')
      for (const key of ['org/missing', 'nobody/missing', 'org', 'org/there/below'])
        expect(await store.open(key), key).toBeNull()
      expect(await store.open('org/missing', { start: 0, end: 0 })).toBeNull()
    })

    it('removes, and a second time too', async () => {
      const keys = ['gone/1', 'gone/2', 'gone/3']
      for (const key of keys) await put(key, key)
      await store.remove(['gone/1', 'gone/2', 'gone/never'])
      await store.remove(['gone/1'])
      expect(await store.open('gone/1')).toBeNull()
      expect(await store.open('gone/2')).toBeNull()
      expect(String(await read('gone/3'))).toBe('gone/3')
      await store.remove([])
      await store.remove(keys)
      await put('gone/1', 'back')
      expect(String(await read('gone/1'))).toBe('back')
    })

    it('removes more than a thousand at once', async () => {
      await put('many/1100', 'x')
      await store.remove(Array.from({ length: 1_101 }, (_, index) => `many/${index}`))
      expect(await store.open('many/1100')).toBeNull()
    })

    it.each([
      '',
      '/',
      '/etc/passwd',
      '..',
      '../secrets',
      'org/../../secrets',
      'org/./x',
      'org//x',
      'org/',
      'org\\x',
      'org/x\0',
      'org/x\n',
      'org/é',
      'Org/x',
      'org/%2e%2e/x',
      '.unfinished/x',
    ])('refuses the key %j', async (key) => {
      await expect(put(key, 'x')).rejects.toThrow('is not a blob key')
      await expect(store.open(key)).rejects.toThrow('is not a blob key')
      await put('org/bystander', 'x')
      await expect(store.remove(['org/bystander', key])).rejects.toThrow('is not a blob key')
      expect(String(await read('org/bystander'))).toBe('x')
    })

    it('takes fifty at once, of which some are for one key', async () => {
      const keys = Array.from({ length: 50 }, (_, index) => (index < 40 ? `busy-${index % 5}/${index}` : 'busy/one'))
      await Promise.all(keys.map((key) => put(key, key)))
      const contents = await Promise.all(keys.map(async (key) => String(await read(key))))
      expect(contents).toEqual(keys)
    })

    it('rejects a put whose file is not there, and keeps what was', async () => {
      const vanished = join(folder, 'vanished')
      await expect(store.put('org/vanished', vanished, 'image/png')).rejects.toThrow('ENOENT')
      expect(await store.open('org/vanished')).toBeNull()
      await put('org/vanished', 'before')
      await expect(store.put('org/vanished', vanished, 'image/png')).rejects.toThrow('ENOENT')
      expect(String(await read('org/vanished'))).toBe('before')
    })

    it('rejects a put of what is no file', async () => {
      await expect(store.put('org/folder', folder, 'image/png')).rejects.toThrow('EISDIR')
      expect(await store.open('org/folder')).toBeNull()
    })

    it('is the same to another store over the same place', async () => {
      await put('org/lasting', 'still here')
      const another = open()
      const stream = await another.open('org/lasting')
      expect(stream && String(await buffer(stream))).toBe('still here')
      await another.close()
    })

    it('passes 100 MB through without holding them', async () => {
      const path = await fileOf('')
      for (let part = 0; part < 100; part++) await writeFile(path, randomBytes(MEGABYTE), { flag: 'a' })
      const before = process.resourceUsage().maxRSS
      await store.put('org/huge', path, 'application/pdf')
      let size = 0
      for await (const chunk of (await store.open('org/huge')) ?? []) size += chunk.length
      expect(size).toBe(100 * MEGABYTE)
      // The peak so far, in kilobytes.
      expect(process.resourceUsage().maxRSS - before).toBeLessThan(40 * 1_024)
    })
  })
}
