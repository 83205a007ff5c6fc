import { execFile } from 'node:child_process'
import { accessSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/read.js'

const UNIT = 'deploy/systemd/parley.service'
const PROGRAM = '/opt/parley/dist/src/main.js'
const hasSystemd = (process.env.PATH ?? '').split(':').some(holdsAnalyzer)

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-unit-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe.skipIf(!hasSystemd)('the unit of systemd', () => {
  it.each(['parley.service', 'parley@.service'])('is understood as %s', async (name) => {
    const unit = join(folder, name)
    const text = await readFile(UNIT, 'utf8')
    // The program is looked for, too.
    await writeFile(unit, text.replace(PROGRAM, process.execPath))
    const { stderr } = await analyze('verify', '--man=no', unit.replace('@', '@worker'), unit).catch((error) => error)
    expect(stderr.split('\n').filter((line: string) => line.includes('parley'))).toEqual([])
  })

  it('is hardened', async () => {
    await analyze('security', '--offline=true', '--threshold=20', UNIT)
  })
})

describe('the files beside the unit', () => {
  it('agree on program, settings and folder', async () => {
    const [unit, command] = await Promise.all([readFile(UNIT, 'utf8'), readFile('deploy/systemd/parley', 'utf8')])
    expect(unit).toContain(`ExecStart=${PROGRAM} serve\n`)
    expect(command).toContain(`-- ${PROGRAM} "$@"`)
    expect(unit).toContain('EnvironmentFile=/etc/parley/parley.env\n')
    expect(command).toContain('. /etc/parley/parley.env\n')
    // The embedded database is found by its folder and by the temporary folder, which PrivateTmp hides.
    expect(unit).toContain('PARLEY_DATA_DIR=/var/lib/parley TMPDIR=/var/lib/parley\n')
    expect(command).toContain('PARLEY_DATA_DIR=/var/lib/parley TMPDIR=/var/lib/parley\n')
  })

  it('let the settings count before the folders of the unit, and these before those of the caller', async () => {
    const unit = await readFile(UNIT, 'utf8')
    expect(unit.indexOf('\nEnvironmentFile=')).toBeGreaterThan(unit.indexOf('\nEnvironment='))
    const settings = join(folder, 'parley.env')
    const command = (await readFile('deploy/systemd/parley', 'utf8'))
      .replace('/etc/parley/parley.env', settings)
      .replace(`runuser -u parley -- ${PROGRAM}`, 'printenv')
    const foldersWith = async (text: string) => {
      await writeFile(settings, text)
      const env = { PATH: process.env.PATH, PARLEY_DATA_DIR: '/caller', TMPDIR: '/caller' }
      const args = ['-c', command, 'parley', 'PARLEY_DATA_DIR', 'TMPDIR']
      return (await promisify(execFile)('sh', args, { env })).stdout
    }
    expect(await foldersWith('')).toBe('/var/lib/parley\n/var/lib/parley\n')
    expect(await foldersWith("PARLEY_DATA_DIR='/srv/parley'\nTMPDIR='/srv/tmp'\n")).toBe('/srv/parley\n/srv/tmp\n')
  })

  it('have settings that exist, and no secret', async () => {
    const text = await readFile('deploy/systemd/parley.env', 'utf8')
    const settings = [...text.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value] as const)
    const { PARLEY_SECRET, PARLEY_ADMIN_TOKEN, ...others } = Object.fromEntries(settings)
    expect([PARLEY_SECRET, PARLEY_ADMIN_TOKEN]).toEqual(['', ''])
    expect(readConfig(others)).toMatchObject({ ok: true })
  })
})

function analyze(...args: string[]) {
  return promisify(execFile)('systemd-analyze', args)
}

function holdsAnalyzer(path: string): boolean {
  try {
    accessSync(join(path, 'systemd-analyze'))
    return path !== ''
  } catch {
    return false
  }
}
