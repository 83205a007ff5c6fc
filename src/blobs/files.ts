import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, lstat, open, opendir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { slices } from '../lib/async/batches.js'
import { makeFolder } from '../lib/files/make-folder.js'
import { syncFolder } from '../lib/files/sync-folder.js'
import type { BlobStore, ByteRange } from './blob-store.js'
import { requireKey } from './key.js'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
// No copy takes this long; older files were left by a killed process.
const LEFTOVER_MS = 24 * 3_600_000
const MOVE_ATTEMPTS = 20
const LOOKED_AT_ONCE = 32
const PAGE = 1_000

/**
 * Stores blobs as files below `folder`, which is created with the first one. Several processes may share it. The first
 * `put` removes what killed processes left.
 */
export function createFileStore(folder: string): BlobStore {
  // Keys do not begin with a dot.
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
        // Also after a rename, which does nothing between two links of the same file.
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
    sizes: async (keys) => {
      keys.forEach(requireKey)
      const sizes: (number | null)[] = []
      for (const some of slices(keys, LOOKED_AT_ONCE)) {
        sizes.push(...(await Promise.all(some.map((key) => sizeOf(join(folder, key))))))
      }
      return sizes
    },
    list: (inner) => {
      requireKey(inner)
      return listFolder(join(folder, inner), inner)
    },
    close: async () => undefined,
  }
}

/** A draft's name begins with the time of its creation, because a link has the (maybe old) times of its file. */
async function removeLeftovers(unfinished: string): Promise<void> {
  const oldest = Date.now() - LEFTOVER_MS
  for (const name of await readdir(unfinished)) {
    if (Number(name.split('-')[0]) < oldest) await rm(join(unfinished, name), { force: true })
  }
}

/** Spooled files are usually on the same file system, where a link costs nothing; not every file system has links. */
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

/** Creates the folder again if it was removed as empty between its creation and the rename. */
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

/**
 * Syncs a folder and its parents up to `outermost`. Any of them may be new, and a file's name is lost with its folder.
 */
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

async function sizeOf(path: string): Promise<number | null> {
  const found = await lstat(path).catch(ignore(['ENOENT', 'ENOTDIR']))
  return found?.isFile() ? found.size : null
}

/** Reads the folder as a stream, since it may hold millions of names. */
async function* listFolder(path: string, key: string): AsyncGenerator<readonly string[]> {
  const folder = await opendir(path).catch(ignore(['ENOENT', 'ENOTDIR']))
  if (!folder) return
  let page: string[] = []
  for await (const entry of folder) {
    if (entry.isFile()) page.push(`${key}/${entry.name}`)
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

function ignore(codes: readonly string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
