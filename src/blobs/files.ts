import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, open, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeFolder } from '../lib/files/make-folder.js'
import { syncFolder } from '../lib/files/sync-folder.js'
import type { BlobStore, ByteRange } from './blob-store.js'
import { requireKey } from './key.js'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
// No copy takes as long: what is older was left behind by a process that was killed.
const LEFTOVER_MS = 24 * 3_600_000
const MOVE_ATTEMPTS = 20

/**
 * Keeps blobs as files below `folder`, which is made with the first of them. Several processes may share it. What killed
 * processes left half-done is removed with the first `put`.
 */
export function createFileStore(folder: string): BlobStore {
  // No key begins with a dot.
  const unfinished = join(folder, '.unfinished')
  let tidied = false
  const tidyOnce = async () => {
    if (tidied) return
    tidied = true
    await removeLeftovers(unfinished)
  }

  return {
    put: async (key, path) => {
      requireKey(key)
      await makeFolder(unfinished, FOLDER_MODE)
      await tidyOnce()
      const draft = join(unfinished, `${Date.now()}-${randomUUID()}`)
      const target = join(folder, key)
      try {
        await linkOrCopy(path, draft)
        await secureAndSync(draft)
        await moveInto(draft, target)
        await syncFolders(dirname(target), dirname(folder))
      } finally {
        // Also after a move: one between two links of the same file does nothing at all.
        await rm(draft, { force: true })
      }
    },
    open: async (key, range) => {
      requireKey(key)
      return openFile(join(folder, key), range)
    },
    remove: async (keys) => {
      keys.forEach(requireKey)
      for (const key of keys) await rm(join(folder, key), { force: true })
      const folders = new Set(keys.filter((key) => key.includes('/')).map((key) => join(folder, dirname(key))))
      for (const emptied of folders) await rmdir(emptied).catch(ignore(['ENOTEMPTY', 'EEXIST', 'ENOENT']))
    },
    close: async () => undefined,
  }
}

/** A name of a draft begins with the time of its making: a link has its file's own times, which may be old. */
async function removeLeftovers(unfinished: string): Promise<void> {
  const oldest = Date.now() - LEFTOVER_MS
  for (const name of await readdir(unfinished)) {
    if (Number(name.split('-')[0]) < oldest) await rm(join(unfinished, name), { force: true })
  }
}

/** Files that pass through lie on the same file system, where a link costs nothing; not every file system has links. */
async function linkOrCopy(path: string, draft: string): Promise<void> {
  try {
    await link(path, draft)
  } catch {
    await copyFile(path, draft, constants.COPYFILE_EXCL)
  }
}

async function secureAndSync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.chmod(FILE_MODE)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the folder again where it was removed, being empty, between its making and the move. */
async function moveInto(draft: string, target: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await makeFolder(dirname(target), FOLDER_MODE)
    try {
      return await rename(draft, target)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === MOVE_ATTEMPTS) throw error
    }
  }
}

/** A name is safe when the folder that holds it is, and those above, each of which may have been made just now. */
async function syncFolders(innermost: string, outermost: string): Promise<void> {
  for (let folder = innermost; ; folder = dirname(folder)) {
    await syncFolder(folder)
    if (folder === outermost) return
  }
}

async function openFile(path: string, range: ByteRange | undefined): Promise<Readable | null> {
  const file = await open(path, 'r').catch(ignore(['ENOENT', 'ENOTDIR']))
  if (!file) return null
  if ((await file.stat()).isFile()) return file.createReadStream(range)
  await file.close()
  return null
}

function ignore(codes: readonly string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
