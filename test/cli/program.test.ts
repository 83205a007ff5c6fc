import { once } from 'node:events'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/program.js'
import { makeFolder, run } from '../support/cli.js'

let folder: Awaited<ReturnType<typeof makeFolder>>

beforeEach(async () => {
  folder = await makeFolder()
})

afterEach(() => folder.remove())

describe('parley', () => {
  it('lists its commands for --help', async () => {
    const help = await run(['--help'], {})
    expect(help).toMatchObject({ code: 0, err: '' })
    for (const command of ['serve', 'up', 'migrate', 'org', 'key', 'member', 'config', 'sandbox']) {
      expect(help.out).toMatch(new RegExp(`^  ${command} `, 'm'))
    }
  })

  it.each([[[]], [['org']], [['key']], [['member']]])('prints its usage for %j, and ends with 2', async (args) => {
    const shown = await run(args, {})
    expect(shown).toMatchObject({ code: 2, out: '' })
    expect(shown.err).toMatch(/^Usage: parley/)
  })

  it.each([
    [['sevre'], "parley: unknown command 'sevre' (Did you mean serve?)\n"],
    [['org', 'list', '--jsn'], "parley: unknown option '--jsn' (Did you mean --json?)\n"],
    [['org', 'show'], "parley: missing required argument 'org'\n"],
    [['serve', 'now'], expect.stringMatching(/^parley: too many arguments.+\n$/)],
  ])('prints one line about %j, and ends with 2', async (args, err) => {
    expect(await run(args, {})).toMatchObject({ code: 2, out: '', err })
  })

  it('ends quietly if its output is closed', async () => {
    const stdout = new PassThrough()
    stdout.destroy()
    const streams = { stdin: Readable.from([]), stdout, stderr: new PassThrough() }
    expect(await runCli(['config'], { PARLEY_DATA_DIR: folder.path }, streams)).toBe(0)
  })
})

describe('config', () => {
  it('prints the effective settings, secrets masked', async () => {
    const env = {
      PARLEY_DATA_DIR: folder.path,
      PARLEY_PORT: '9000',
      PARLEY_SECRET: 'master-key-of-the-tests',
      PARLEY_DATABASE_URL: 'postgres://parley:hunter2@db/parley',
    }
    const printed = await run(['config', '--json'], env)
    expect(printed).toMatchObject({ code: 0, err: '' })
    expect(printed.json()).toContainEqual({ name: 'PARLEY_PORT', value: '9000', source: 'environment' })
    expect(printed.json()).toContainEqual({ name: 'PARLEY_SECRET', value: '***', source: 'environment' })
    const table = await run(['config'], env)
    expect(table.out).toMatch(/^name +value +source\n/)
    expect(table.out + printed.out).not.toMatch(/hunter2|master-key/)
  })

  it('ends with 2 and one line for an invalid setting', async () => {
    expect(await run(['config'], { PARLEY_PORT: 'http' })).toMatchObject({
      code: 2,
      out: '',
      err: 'parley: PARLEY_PORT="http": expected a port number from 0 (any free one) to 65535\n',
    })
  })
})

describe.each(['serve', 'up'])('%s', (command) => {
  it.each(['PARLEY_PORT', 'PARLEY_GATEWAY_PORT'])(
    'notices that %s is taken before it creates anything',
    async (name) => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      const port = String((other.address() as AddressInfo).port)
      const env = { PARLEY_DATA_DIR: join(folder.path, 'data'), PARLEY_PORT: '0', [name]: port }
      const refused = await run([command], env)
      other.close()
      expect(refused).toMatchObject({
        code: 2,
        out: '',
        err: `parley: ${name}=${port}: the port is taken on 127.0.0.1: choose another one, or 0 for any free one\n`,
      })
      expect(await readdir(folder.path)).toEqual([])
    },
  )

  it('ends with 2 if it cannot listen', async () => {
    const env = { PARLEY_DATA_DIR: join(folder.path, 'data'), PARLEY_PORT: '0', PARLEY_HOST: 'nowhere.invalid' }
    const refused = await run([command], env)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(/^parley: PARLEY_HOST=nowhere\.invalid, PARLEY_PORT=0: cannot listen there \(\w+\)\n$/)
  })

  it('ends with 2 if its data directory cannot be created', async () => {
    await writeFile(join(folder.path, 'file'), '')
    const dataDir = join(folder.path, 'file', 'data')
    const refused = await run([command], { PARLEY_DATA_DIR: dataDir, PARLEY_PORT: '0' })
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(/^parley: PARLEY_DATA_DIR=.+ENOTDIR.+\n$/)
    const secrets = { PARLEY_ADMIN_TOKEN: 'admin-token-of-the-tests', PARLEY_SECRET: 'master-key-of-the-tests' }
    const withSecrets = await run([command], { PARLEY_DATA_DIR: dataDir, PARLEY_PORT: '0', ...secrets })
    expect(withSecrets).toMatchObject({ code: 2, out: '' })
    expect(withSecrets.err).toMatch(/^parley: database folder .+ENOTDIR.+\n$/)
    expect((await stat(join(folder.path, 'file'))).size).toBe(0)
  })
})

describe('sandbox', () => {
  it.each([
    [['--port', 'http'], /^parley: --port http: expected a port number/],
    [['--host', '0.0.0.0'], /^parley: The sandbox cannot listen on 0\.0\.0\.0:0: .*loopback only/],
  ])('ends with 2 for %j', async (options, complaint) => {
    const refused = await run(['sandbox', ...options], {})
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(complaint)
  })
})
