import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadLibrary } from '../../../src/channels/linked-device/library.js'
import { transpile } from '../../support/transpile.js'

const NAMES = ['makeWASocket', 'initAuthCreds', 'BufferJSON', 'proto', 'downloadContentFromMessage', 'USyncQuery']

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'library-'))
})
afterEach(() => rm(folder, { recursive: true }))

const load = (specifier: string) => loadLibrary(specifier, () => undefined)

it('is null where it is not installed', async () => {
  expect(await load('a-package-that-nobody-has-installed')).toBeNull()
  expect(await load(join(folder, 'none'))).toBeNull()
})

it('is loaded from a file or a folder', async () => {
  await writeFile(join(folder, 'main.mjs'), NAMES.map((name) => `export const ${name} = 1`).join('\n'))
  await writeFile(join(folder, 'package.json'), '{"main": "main.mjs"}')
  expect(await load(join(folder, 'main.mjs'))).toMatchObject({ proto: 1 })
  expect(await load(folder)).toMatchObject({ proto: 1 })
})

it('reports what is wrong with it', async () => {
  const path = join(folder, 'other.mjs')
  await writeFile(path, 'export const proto = 1')
  await expect(load(path)).rejects.toThrow('is not a supported version of the library')
  const broken = join(folder, 'broken.mjs')
  await writeFile(broken, "import 'a-package-that-nobody-has-installed'")
  await expect(load(broken)).rejects.toThrow('a-package-that-nobody-has-installed')
})

describe('a process that has loaded it', () => {
  /** Runs a program that has loaded a library, as a process; `fails` is an unhandled failure. */
  async function run(fails: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const service = join(folder, 'service')
    const installed = join(service, 'node_modules', 'scripted')
    await mkdir(installed, { recursive: true })
    await mkdir(join(service, 'keys'))
    for (const name of ['library', 'library-rejections', 'keys/key-store']) {
      const source = await readFile(new URL(`../../../src/channels/linked-device/${name}.ts`, import.meta.url), 'utf8')
      await writeFile(join(service, `${name}.js`), transpile(source))
    }
    await writeFile(join(service, 'package.json'), '{"type": "module"}')
    await writeFile(join(installed, 'package.json'), '{"type": "module", "main": "main.js"}')
    await writeFile(join(installed, 'main.js'), NAMES.map((name) => `export const ${name} = ${FAILING}`).join('\n'))
    await writeFile(
      join(service, 'program.js'),
      `import { KeysNotRead } from './keys/key-store.js'
       import { loadLibrary } from './library.js'
       const hear = (error) => console.log('heard of ' + error.message)
       const { proto } = await loadLibrary('scripted', hear)
       await loadLibrary(${JSON.stringify(join(installed, 'main.js'))}, hear)
       void (async () => { ${fails} })()
       await new Promise((resolve) => setTimeout(resolve))
       console.log('goes on')`,
    )
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [join(service, 'program.js')], (_, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      )
    })
  }
  const FAILING = `async () => { throw new Error('the connection is closed') }`

  it.each([
    ['a failure of its own', `await proto()`, 'the connection is closed'],
    ['unreadable keys', `throw new KeysNotRead('away')`, 'The keys of the session could not be read: away'],
    ['an error of its own kind', `throw Object.assign(new Error('timed out'), { isBoom: true })`, 'timed out'],
    [
      'a connection that broke',
      `throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE', stack: 'Error: write EPIPE\\n    at x (node:net:1:1)' })`,
      'write EPIPE',
    ],
  ])('survives %s', async (_, fails, message) => {
    expect(await run(fails)).toEqual({ code: 0, stdout: `heard of ${message}\ngoes on\n`, stderr: '' })
  })

  it('exits on an error of its own', async () => {
    const { code, stdout, stderr } = await run(`throw new Error('our own fault')`)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('our own fault')
  })
})
