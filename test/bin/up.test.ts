import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

/** A checkout with installed packages, whose npm and command line only say what they were asked for. */
let root: string

function writeProgram(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-up-'))
  for (const folder of ['bin', 'programs', 'node_modules']) mkdirSync(join(root, folder))
  for (const name of ['up', '_build']) cpSync(join('bin', name), join(root, 'bin', name))
  writeFileSync(join(root, 'package-lock.json'), '{}')
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), '{}')
  writeProgram(join(root, 'bin', 'parley'), 'echo "parley $*"')
  writeProgram(join(root, 'programs', 'npm'), `echo "$*" >> '${root}/asked'; mkdir '${root}/node_modules/baileys'`)
})

afterEach(() => rmSync(root, { recursive: true }))

const up = (...args: string[]) => {
  const env = { ...process.env, PATH: `${join(root, 'programs')}:${process.env.PATH}` }
  return execFileSync(join(root, 'bin', 'up'), args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}
const asked = () => {
  const path = join(root, 'asked')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

it('bin/up --linked-devices installs the library once, in the version of the docs', () => {
  expect(up('--migrate')).toBe('parley up --migrate\n')
  expect(asked()).toEqual([])
  expect(up('--strict', '--migrate')).toBe('parley up --strict --migrate\n')
  expect(asked()).toEqual([])
  for (let time = 0; time < 2; time++) expect(up('--linked-devices', '--migrate')).toBe('parley up --migrate\n')
  expect(up('--strict', '--linked-devices')).toBe('parley up --strict\n')
  expect(asked()).toEqual([expect.stringMatching(/^install --no-save .*baileys@/)])
  const [version] = /baileys@\S+/.exec(asked()[0] ?? '') ?? []
  expect(readFileSync('docs/linked-devices.md', 'utf8')).toContain(
    `npm install --prefix /opt/linked-devices ${version}`,
  )
  expect(readFileSync('deploy/linked-devices.Dockerfile', 'utf8')).toContain(` ${version}\n`)
  expect(readFileSync('src/core/instances/library/linked-library.ts', 'utf8')).toContain(
    `--prefix /opt/linked-devices ${version}`,
  )
})
