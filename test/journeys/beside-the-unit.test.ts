import { execFile } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtProgram } from './support/build.js'
import { endPrograms, runProgram } from './support/programs.js'
import { makeFolder, startService } from './support/service.js'

const DATA_DIR = '/var/lib/parley'
const SETTINGS = '/etc/parley/parley.env'

let folder: Awaited<ReturnType<typeof makeFolder>>

beforeAll(async () => {
  folder = await makeFolder()
})

afterAll(async () => {
  await endPrograms()
  await folder?.remove()
})

/** A folder of this test. */
async function made(name: string): Promise<string> {
  const path = join(folder.path, name)
  await mkdir(path)
  return path
}

/** The variables that the shipped unit sets, with another data folder. */
async function environmentOfUnit(dataDir: string): Promise<Record<string, string>> {
  const unit = (await readFile('deploy/systemd/parley.service', 'utf8')).replaceAll(DATA_DIR, dataDir)
  const [, assignments = ''] = /^Environment=(.*)$/m.exec(unit) ?? []
  return Object.fromEntries([...assignments.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]))
}

/** The shipped command, with other paths and as this user. */
async function writeCommand(dataDir: string): Promise<string> {
  const shipped = await readFile('deploy/systemd/parley', 'utf8')
  const settings = join(folder.path, 'parley.env')
  const program = `${process.execPath} ${await builtProgram()}`
  const command = join(folder.path, 'parley')
  await writeFile(settings, "PARLEY_UPSTREAM_URL='sandbox'\n")
  const text = shipped
    .replaceAll(DATA_DIR, dataDir)
    .replace(SETTINGS, settings)
    .replace('runuser -u parley -- /opt/parley/dist/src/main.js', program)
  await writeFile(command, text, { mode: 0o755 })
  return command
}

it('the command backs up the embedded database of the running unit, whose temporary files are its own', async () => {
  const dataDir = await made('data')
  // PrivateTmp gives the service another /tmp than the caller of the command has.
  const ofService = await made('private')
  const ofCaller = await made('tmp')
  const ofUnit = await environmentOfUnit(dataDir)
  await startService({ TMPDIR: ofService, ...ofUnit, PARLEY_UPSTREAM_URL: 'sandbox' })

  const command = await writeCommand(dataDir)
  const archive = join(folder.path, 'parley.tar')
  await promisify(execFile)(command, ['backup', archive], { env: { PATH: process.env.PATH, TMPDIR: ofCaller } })
  expect((await stat(archive)).size).toBeGreaterThan(1_000_000)

  // Without the temporary folder of the unit, the database is not found.
  const lost = await runProgram(['org', 'list'], { env: { PARLEY_DATA_DIR: dataDir, TMPDIR: ofCaller } })
  expect(lost.code).not.toBe(0)
  expect(lost.errors.join('\n')).toContain('is in use by')
})
