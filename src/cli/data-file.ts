import { randomUUID } from 'node:crypto'
import { chmod, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../lib/files/make-folder.js'
import { isJsonObject, type JsonObject } from '../lib/text/json.js'

/** Reads a JSON object from the data folder and closes the file to other users; empty if it is missing or unusable. */
export async function readDataFile(dataDir: string, name: string): Promise<JsonObject> {
  const path = join(dataDir, name)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return {}
  await chmod(path, 0o600)
  try {
    const content: unknown = JSON.parse(text)
    return isJsonObject(content) ? content : {}
  } catch {
    return {}
  }
}

/** Writes a JSON object to the data folder atomically, readable by this user only. */
export async function writeDataFile(dataDir: string, name: string, content: object): Promise<void> {
  await makeFolder(dataDir, 0o700)
  const path = join(dataDir, name)
  const draft = `${path}.${randomUUID()}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(content, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
