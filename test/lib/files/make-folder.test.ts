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
  it('makes every missing level, with the mode', async () => {
    await makeFolder(join(root, 'a', 'b', 'c'), 0o700)
    for (const folder of ['a', 'a/b', 'a/b/c']) expect((await stat(join(root, folder))).mode & 0o777).toBe(0o700)
  })

  it('leaves one that is there', async () => {
    await makeFolder(root)
    expect(existsSync(root)).toBe(true)
  })

  it('says what is wrong below a file', async () => {
    await writeFile(join(root, 'file'), '')
    await expect(makeFolder(join(root, 'file', 'x'))).rejects.toThrow('ENOTDIR')
  })

  it.runIf(existsSync('/proc/self'))('ends where the file system makes no folders', async () => {
    await expect(makeFolder('/proc/none')).rejects.toThrow('ENOENT')
    await expect(makeFolder('/proc/none/of/these')).rejects.toThrow('ENOENT')
  })
})
