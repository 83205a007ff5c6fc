import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder } from '../../../src/lib/files/make-folder.js'

let root: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'parley-folder-'))
})

afterAll(() => rm(root, { recursive: true }))

describe('makeFolder', () => {
  it('creates every missing level, with the mode', async () => {
    await makeFolder(join(root, 'a', 'b', 'c'), 0o700)
    for (const folder of ['a', 'a/b', 'a/b/c']) expect((await stat(join(root, folder))).mode & 0o777).toBe(0o700)
  })

  it('keeps an existing folder', async () => {
    await makeFolder(root)
    expect(existsSync(root)).toBe(true)
  })

  it('reports a path below a file', async () => {
    await writeFile(join(root, 'file'), '')
    await expect(makeFolder(join(root, 'file', 'x'))).rejects.toThrow('ENOTDIR')
  })

  it.runIf(existsSync('/proc/self'))('fails if the file system creates no folders', async () => {
    await expect(makeFolder('/proc/none')).rejects.toThrow('ENOENT')
    await expect(makeFolder('/proc/none/of/these')).rejects.toThrow('ENOENT')
  })
})
