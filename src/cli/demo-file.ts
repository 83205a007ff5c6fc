import { randomUUID } from 'node:crypto'
import { chmod, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { asText, isJsonObject } from '../lib/json.js'
import { makeFolder } from '../lib/make-folder.js'

/** What is kept of the demo from one start to the next. */
export interface DemoRecord {
  organization_id: string
  /** The demo's API key: the service itself keeps only its hash. */
  api_key: string
  /** True once contacts and conversation are made: from then on they are the user's. */
  finished: boolean
}

/** Reads `demo.json` in the data directory; null when there is none, or nothing of use in it. */
export async function readDemoRecord(dataDir: string): Promise<DemoRecord | null> {
  const path = pathIn(dataDir)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const content = parse(text)
  const organization_id = asText(content.organization_id)
  const api_key = asText(content.api_key)
  if (organization_id === null || api_key === null) return null
  await chmod(path, 0o600)
  return { organization_id, api_key, finished: content.finished === true }
}

/** Writes `demo.json` for this user alone, whole or not at all. */
export async function writeDemoRecord(dataDir: string, record: DemoRecord): Promise<void> {
  await makeFolder(dataDir, 0o700)
  const draft = `${pathIn(dataDir)}.${randomUUID()}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(record, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, pathIn(dataDir))
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'demo.json')
}

function parse(text: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(text)
    return isJsonObject(content) ? content : {}
  } catch {
    return {}
  }
}
