import { createHash } from 'node:crypto'
import { open, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { syncFolder } from '../../lib/files/sync-folder.js'
import { ignoring, type StoredObject, UNFINISHED } from './objects.js'

// A manifest has one JSON value per line: its head, a line for each file, and at the end the SHA-256 of all lines before.

/** What a backup is of. */
export interface BackupHead {
  /** Of this form of manifest. */
  format: 1
  parley: string
  /** PostgreSQL's major version. */
  postgres: string
  /** The point that a restore leads to, ISO 8601. */
  point: string
  /** Whether files of messages are in it; false: they are in a bucket. */
  hasMedia: boolean
}

/** A file of a backup; `path` is relative to the data folder. */
export interface BackupFile extends StoredObject {
  path: string
}

interface End {
  files: number
  sha256: string
}

const NAME = /^\d{8}T\d{9}Z\.manifest$/

/** The names of the complete backups in a folder, oldest first. */
export async function listBackups(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(ignoring('ENOENT'))) ?? []
  return names
    .filter((name) => NAME.test(name))
    .map((name) => name.slice(0, -'.manifest'.length))
    .sort()
}

/** Writes a manifest; `finish` makes it, and so the backup, visible under a name made of the point. */
export async function beginManifest(folder: string) {
  const draft = join(folder, `${UNFINISHED}manifest-${process.pid}`)
  const file = await open(draft, 'w', 0o600)
  const hash = createHash('sha256')
  let lines: string[] = []
  let files = 0
  const flush = async () => {
    const text = lines.join('')
    lines = []
    hash.update(text)
    await file.write(text)
  }
  const write = async (value: BackupHead | BackupFile) => {
    lines.push(`${JSON.stringify(value)}\n`)
    if (lines.length >= 1_000) await flush()
  }
  return {
    add: async (entry: BackupFile) => {
      files++
      await write(entry)
    },
    close: () => file.close(),
    /** The head comes last, because the point is known last. */
    finish: async (head: BackupHead): Promise<string> => {
      await write(head)
      await flush()
      const end: End = { files, sha256: hash.digest('hex') }
      await file.write(`${JSON.stringify(end)}\n`)
      await file.sync()
      const name = head.point.replace(/[-:.]/g, '')
      await rename(draft, join(folder, `${name}.manifest`))
      await syncFolder(folder)
      return name
    },
  }
}

/** Reads a manifest, calls `onFile` for each file, and returns the head. Throws if it is incomplete or changed. */
export async function readManifest(
  folder: string,
  name: string,
  onFile: (file: BackupFile) => Promise<void>,
): Promise<BackupHead> {
  const path = join(folder, `${name}.manifest`)
  const input = await open(path, 'r')
  const hash = createHash('sha256')
  let head: BackupHead | undefined
  let end: End | undefined
  let files = 0
  try {
    for await (const line of createInterface({ input: input.createReadStream({ autoClose: false }) })) {
      const value = JSON.parse(line) as BackupHead | BackupFile | End
      if (!('path' in value) && !('format' in value)) {
        end = value
        break
      }
      hash.update(`${line}\n`)
      if ('format' in value) head = value
      else {
        requireInside(value.path)
        files++
        await onFile(value)
      }
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`the backup is damaged: ${path} is not readable`)
    throw error
  } finally {
    await input.close()
  }
  if (head?.format === 1 && end?.files === files && end.sha256 === hash.digest('hex')) return head
  throw new Error(`the backup is damaged: ${path} is incomplete or was changed`)
}

function requireInside(path: string): void {
  if (/^(postgres|media)\/|^(secrets|up)\.json$/.test(path) && !path.split('/').includes('..')) return
  throw new Error(`the backup is damaged: it holds ${JSON.stringify(path)}`)
}
