import { randomBytes, randomUUID } from 'node:crypto'
import { link, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config/settings.js'
import { type Parsed, parseAdminToken, parseMasterKeys } from './config/values.js'
import { makeFolder } from './lib/files/make-folder.js'
import { syncFolder } from './lib/files/sync-folder.js'

/** The service's secrets: the admin API's bearer token; the current master key, then older ones. */
export interface Secrets {
  adminToken: string
  masterKeys: string[]
}

/**
 * The secrets of this process: from the environment, otherwise from `secrets.json` in the data folder, which is created
 * on first use (`PARLEY_ADMIN_TOKEN`, `PARLEY_SECRET`). Processes that start at the same time agree on one file. The
 * problem is one line with the file, what is wrong with it and what to do.
 */
export async function loadSecrets(
  config: Config,
): Promise<{ ok: true; secrets: Secrets } | { ok: false; problem: string }> {
  const { adminToken, masterKeys } = config
  if (adminToken !== undefined && masterKeys !== undefined) return { ok: true, secrets: { adminToken, masterKeys } }

  const path = join(config.dataDir, 'secrets.json')
  try {
    const kept = parseSecrets((await readPrivately(path)) ?? (await createSecrets(config.dataDir, path)))
    if (!kept.ok) return { ok: false, problem: `${path}: expected ${kept.expected}; repair it or restore a backup` }
    const secrets = {
      adminToken: adminToken ?? kept.value.adminToken,
      masterKeys: masterKeys ?? kept.value.masterKeys,
    }
    return { ok: true, secrets }
  } catch (error) {
    if (!isSystemError(error)) throw error
    const problem = `PARLEY_DATA_DIR=${JSON.stringify(config.dataDir)}: cannot keep secrets.json there (${error.message}): name a folder that this user may write to, or set PARLEY_ADMIN_TOKEN and PARLEY_SECRET`
    return { ok: false, problem }
  }
}

/** The file's text; undefined if there is none. A file that others can read is first closed to them. */
async function readPrivately(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  })
  if (file === undefined) return undefined
  try {
    const { mode } = await file.stat()
    if ((mode & 0o077) !== 0) await file.chmod(0o600)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Writes the file under another name and links it into place; of several writers the first one wins. */
async function createSecrets(dataDir: string, path: string): Promise<string> {
  await makeFolder(dataDir, 0o700)
  const draft = `${path}.${randomUUID()}`
  await writeDurably(draft, `${JSON.stringify(generateSecrets(), null, 2)}\n`)
  try {
    await link(draft, path)
    await syncFolder(dataDir)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
  } finally {
    await unlink(draft)
  }
  return (await readPrivately(path)) ?? ''
}

// The file uses the variables' form, so that a key is rotated there as in the environment.
function generateSecrets(): Record<'PARLEY_ADMIN_TOKEN' | 'PARLEY_SECRET', string> {
  return {
    PARLEY_ADMIN_TOKEN: randomBytes(32).toString('base64url'),
    PARLEY_SECRET: randomBytes(32).toString('base64url'),
  }
}

function parseSecrets(text: string): Parsed<Secrets> {
  const expected = 'a JSON object with PARLEY_ADMIN_TOKEN and PARLEY_SECRET'
  const content = parseJson(text)
  if (typeof content !== 'object' || content === null) return { ok: false, expected }
  const { PARLEY_ADMIN_TOKEN, PARLEY_SECRET } = content as Record<string, unknown>
  if (typeof PARLEY_ADMIN_TOKEN !== 'string' || typeof PARLEY_SECRET !== 'string') return { ok: false, expected }

  const adminToken = parseAdminToken(PARLEY_ADMIN_TOKEN)
  if (!adminToken.ok) return { ok: false, expected: `in PARLEY_ADMIN_TOKEN ${adminToken.expected}` }
  const masterKeys = parseMasterKeys(PARLEY_SECRET)
  if (!masterKeys.ok) return { ok: false, expected: `in PARLEY_SECRET ${masterKeys.expected}` }
  return { ok: true, value: { adminToken: adminToken.value, masterKeys: masterKeys.value } }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// A master key lost in a power cut would make every stored credential unreadable.
async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
