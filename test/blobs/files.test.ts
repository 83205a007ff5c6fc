import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFileStore } from '../../src/blobs/files.js'
import { describeBlobStore } from './conformance.js'

let folder: string
let media: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-files-'))
  media = join(folder, 'data', 'media')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function fileOf(text: string, mode = 0o644): Promise<string> {
  const path = join(folder, 'source')
  await writeFile(path, text, { mode })
  return path
}

describeBlobStore('files', () => createFileStore(media))

describe('files on disk', () => {
  it('are readable by their owner only, like their folders', async () => {
    const store = createFileStore(media)
    await store.put('private/1', await fileOf('x'), 'image/png')
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
    expect(await modeOf(join(media, 'private', '1'))).toBe('600')
    for (const path of [join(folder, 'data'), media, join(media, 'private'), join(media, '.unfinished')])
      expect(await modeOf(path), path).toBe('700')
  })

  it('return only their first byte on request', async () => {
    const store = createFileStore(media)
    await store.put('first/1', await fileOf('0123456789'), 'image/png')
    const stream = await store.open('first/1', { start: 0, end: 0 })
    expect(stream && String(await buffer(stream))).toBe('0')
  })

  it('leave no partial file behind, whether a put succeeds or fails', async () => {
    const store = createFileStore(media)
    const path = await fileOf('x')
    await store.put('tidy/1', path, 'image/png')
    await store.put('tidy/1', path, 'image/png')
    await expect(store.put('tidy/2', join(folder, 'none'), 'image/png')).rejects.toThrow('ENOENT')
    // A file is in the place of a folder.
    await expect(store.put('tidy/1/below', path, 'image/png')).rejects.toThrow()
    expect(await readdir(join(media, '.unfinished'))).toEqual([])
    expect(await readdir(join(media, 'tidy'))).toEqual(['1'])
  })

  it('leave no empty folder behind', async () => {
    const store = createFileStore(media)
    const path = await fileOf('x')
    for (const key of ['leaving/1', 'leaving/2', 'staying/1', 'staying/2']) await store.put(key, path, 'image/png')
    await store.remove(['leaving/1', 'leaving/2', 'staying/1'])
    const folders = await readdir(media)
    expect(folders).not.toContain('leaving')
    expect(folders).toContain('staying')
  })

  it('create their folder again if it was removed while empty', async () => {
    const store = createFileStore(media)
    const path = await fileOf('x')
    for (let round = 0; round < 20; round++) {
      await store.put('restless/old', path, 'image/png')
      await Promise.all([store.remove(['restless/old']), store.put('restless/new', path, 'image/png')])
      expect(await readdir(join(media, 'restless'))).toEqual(['new'])
      await store.remove(['restless/new'])
    }
  })

  it('are copied if they cannot be hard-linked', async () => {
    const store = createFileStore(media)
    const elsewhere = await mkdtemp(join('/dev/shm', 'parley-files-')).catch(() => folder)
    const path = join(elsewhere, 'elsewhere')
    await writeFile(path, 'from another file system')
    await store.put('copied/1', path, 'image/png')
    await rm(path)
    if (elsewhere !== folder) await rm(elsewhere, { recursive: true })
    const kept = await stat(join(media, 'copied', '1'))
    expect(kept.size).toBe('from another file system'.length)
  })

  it('that a killed process left incomplete are removed after a day', async () => {
    const unfinished = join(media, '.unfinished')
    await mkdir(unfinished, { recursive: true })
    const hour = 3_600_000
    const old = `${Date.now() - 25 * hour}-7f1c`
    const young = `${Date.now() - 23 * hour}-7f1c`
    for (const name of [old, young]) await writeFile(join(unfinished, name), 'x')
    await createFileStore(media).put('after/1', await fileOf('x'), 'image/png')
    expect(await readdir(unfinished)).toEqual([young])
    await rm(join(unfinished, young))
  })
})
