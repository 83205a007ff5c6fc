import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config/read.js'
import type { Config } from '../src/config/settings.js'
import { loadSecrets, type Secrets } from '../src/secrets.js'

let folder: string
let dataDir: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-secrets-'))
  dataDir = join(folder, 'deep', 'data')
  file = join(dataDir, 'secrets.json')
})

afterEach(() => rm(folder, { recursive: true }))

function configOf(env: Record<string, string> = {}): Config {
  const result = readConfig({ PARLEY_DATA_DIR: dataDir, ...env })
  if (!result.ok) throw new Error(result.problem)
  return result.config
}

async function secretsOf(env: Record<string, string> = {}): Promise<Secrets> {
  const result = await loadSecrets(configOf(env))
  if (!result.ok) throw new Error(result.problem)
  return result.secrets
}

async function problemOf(env: Record<string, string> = {}): Promise<string> {
  const result = await loadSecrets(configOf(env))
  return result.ok ? 'no problem' : result.problem
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

const given = { PARLEY_ADMIN_TOKEN: 'the-given-admin-token', PARLEY_SECRET: 'current-key-0123,older-key-456789' }

describe('generated secrets', () => {
  it('are two different values of 32 random bytes', async () => {
    const { adminToken, masterKeys } = await secretsOf()
    for (const value of [adminToken, ...masterKeys]) expect(Buffer.from(value, 'base64url')).toHaveLength(32)
    expect(masterKeys).toHaveLength(1)
    expect(masterKeys).not.toContain(adminToken)
  })

  it('are readable by their owner only, and leave no other file', async () => {
    await secretsOf()
    expect(await modeOf(file)).toBe('600')
    expect(await modeOf(dataDir)).toBe('700')
    expect(await readdir(dataDir)).toEqual(['secrets.json'])
  })

  it('stay the same across starts', async () => {
    const first = await secretsOf()
    expect(await secretsOf()).toEqual(first)
  })

  it('are the same for all processes that start at once', async () => {
    const all = await Promise.all(Array.from({ length: 16 }, () => secretsOf()))
    expect(new Set(all.map((secrets) => JSON.stringify(secrets))).size).toBe(1)
    expect(await readdir(dataDir)).toEqual(['secrets.json'])
  })

  it('are made private again if their file was readable by others', async () => {
    const first = await secretsOf()
    await chmod(file, 0o644)
    expect(await secretsOf()).toEqual(first)
    expect(await modeOf(file)).toBe('600')
  })

  it('rotate in the file as in the environment', async () => {
    await secretsOf()
    await writeFile(file, JSON.stringify(given))
    expect(await secretsOf()).toEqual({
      adminToken: given.PARLEY_ADMIN_TOKEN,
      masterKeys: ['current-key-0123', 'older-key-456789'],
    })
  })
})

describe('given secrets', () => {
  it('need no file if both are given', async () => {
    const secrets = await secretsOf(given)
    expect(secrets.adminToken).toBe(given.PARLEY_ADMIN_TOKEN)
    expect(await readdir(folder)).toEqual([])
  })

  it('override the file one by one', async () => {
    const generated = await secretsOf()
    const secrets = await secretsOf({ PARLEY_ADMIN_TOKEN: given.PARLEY_ADMIN_TOKEN })
    expect(secrets).toEqual({ adminToken: given.PARLEY_ADMIN_TOKEN, masterKeys: generated.masterKeys })
  })
})

describe('invalid secrets', () => {
  it('are reported with a data directory that cannot be created', async () => {
    await writeFile(join(folder, 'deep'), 'a file, not a folder')
    const problem = await problemOf()
    expect(problem).toMatch(/^PARLEY_DATA_DIR=.*ENOTDIR.*$/)
    expect(problem).toContain(JSON.stringify(dataDir))
  })

  it.each([
    ['no JSON', 'PARLEY_SECRET=current-key-0123'],
    ['no object', '[]'],
    ['empty', ''],
    ['without a key', JSON.stringify({ PARLEY_ADMIN_TOKEN: given.PARLEY_ADMIN_TOKEN })],
  ])('include a file that is damaged (%s), which stays unchanged', async (_, content) => {
    await secretsOf()
    await writeFile(file, content)
    expect(await problemOf()).toContain(`${file}: expected `)
    expect(await readFile(file, 'utf8')).toBe(content)
  })
})
