import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadLibrary } from '../../../src/channels/linked-device/library.js'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'library-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('is null where it is not installed', async () => {
  expect(await loadLibrary('a-package-that-nobody-has-installed')).toBeNull()
  expect(await loadLibrary(join(folder, 'none'))).toBeNull()
})

it('is loaded from a file or a folder', async () => {
  const names = ['makeWASocket', 'initAuthCreds', 'BufferJSON', 'proto', 'downloadContentFromMessage', 'USyncQuery']
  await writeFile(join(folder, 'main.mjs'), names.map((name) => `export const ${name} = 1`).join('\n'))
  await writeFile(join(folder, 'package.json'), '{"main": "main.mjs"}')
  expect(await loadLibrary(join(folder, 'main.mjs'))).toMatchObject({ proto: 1 })
  expect(await loadLibrary(folder)).toMatchObject({ proto: 1 })
})

it('says what is wrong with it', async () => {
  const path = join(folder, 'other.mjs')
  await writeFile(path, 'export const proto = 1')
  await expect(loadLibrary(path)).rejects.toThrow('no version of the library')
  const broken = join(folder, 'broken.mjs')
  await writeFile(broken, "import 'a-package-that-nobody-has-installed'")
  await expect(loadLibrary(broken)).rejects.toThrow('a-package-that-nobody-has-installed')
})
