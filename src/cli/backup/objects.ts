import { createHash } from 'node:crypto'
import {
  type FileHandle,
  link,
  lstat,
  open,
  opendir,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../lib/files/make-folder.js'
import { syncFolder } from '../../lib/files/sync-folder.js'

/** A file's content in the store. */
export interface StoredObject {
  sha256: string
  /** In bytes. */
  size: number
}

/** The contents of files, each once under its SHA-256, shared by all backups of a folder. */
export interface ObjectStore {
  /** Stores the content of a file; null: the file has gone. Contents that are there already are not written. */
  add(path: string): Promise<StoredObject | null>
  addText(text: string): Promise<StoredObject>
  /** Like `add`, but a file of the same name, size and time as at an earlier `add` is not read again. */
  addOnce(path: string, name: string): Promise<StoredObject | null>
  /** Makes the names of what was added durable. */
  sync(): Promise<void>
  /** Reads the object and throws if it is missing or its content is another one. */
  check(object: StoredObject): Promise<void>
  /** Writes the object to a new file, mode 0600, and checks it meanwhile. */
  copyTo(object: StoredObject, path: string): Promise<void>
  /** Makes the file share the object's bytes. */
  linkTo(object: StoredObject, path: string): Promise<void>
  /** Marks an object as used. */
  mark(object: StoredObject, at: Date): Promise<void>
  /** Removes objects that were not marked since then; their number. */
  sweep(before: Date): Promise<number>
}

const CHUNK = 1_048_576
/** How the names of files in progress begin. */
export const UNFINISHED = 'unfinished-'

/** The store below `folder`, which exists. */
export function openObjectStore(folder: string): ObjectStore {
  const objects = join(folder, 'objects')
  const known = join(folder, 'known')
  const draft = join(folder, `${UNFINISHED}${process.pid}`)
  /** Folders with new names: one for each first byte, at most. */
  const changed = new Set([folder])
  const pathOf = (sha256: string) => join(objects, sha256.slice(0, 2), sha256)

  async function keep(sha256: string): Promise<void> {
    const path = pathOf(sha256)
    await makeFolder(dirname(path), 0o700)
    await rename(draft, path)
    changed.add(dirname(path))
  }

  const add: ObjectStore['add'] = async (path) => {
    const source = await open(path, 'r').catch(ignoring('ENOENT'))
    if (!source) return null
    try {
      return await addFrom(source)
    } finally {
      await source.close()
    }
  }

  /** The file may change while it is read, so the hash is that of the bytes which are written. */
  async function addFrom(source: FileHandle): Promise<StoredObject> {
    const first = await hashOf(source)
    if (await isThere(first)) return first
    const target = await open(draft, 'w', 0o600)
    try {
      const stored = await copy(source, target)
      await target.sync()
      await keep(stored.sha256)
      return stored
    } finally {
      await target.close()
      await rm(draft, { force: true })
    }
  }

  async function isThere({ sha256, size }: StoredObject): Promise<boolean> {
    const found = await lstat(pathOf(sha256)).catch(ignoring('ENOENT'))
    return found?.size === size
  }

  return {
    add,
    addText: async (text) => {
      const object = { sha256: createHash('sha256').update(text).digest('hex'), size: Buffer.byteLength(text) }
      if (await isThere(object)) return object
      const target = await open(draft, 'w', 0o600)
      try {
        await target.writeFile(text)
        await target.sync()
      } finally {
        await target.close()
      }
      await keep(object.sha256)
      return object
    },
    addOnce: async (path, name) => {
      const found = await lstat(path).catch(ignoring('ENOENT'))
      if (!found) return null
      const entry = join(known, `${name}.${found.size}.${Math.floor(found.mtimeMs)}`)
      const sha256 = await readlink(entry).catch(ignoring('ENOENT'))
      if (sha256 !== undefined && (await isThere({ sha256, size: found.size }))) return { sha256, size: found.size }
      const stored = await add(path)
      if (!stored) return null
      await makeFolder(dirname(entry), 0o700)
      await rm(entry, { force: true })
      await symlink(stored.sha256, entry)
      return stored
    },
    sync: async () => {
      for (const path of changed) await syncFolder(path)
    },
    check: async (object) => {
      const source = await openObject(pathOf(object.sha256))
      try {
        requireSame(object, await hashOf(source))
      } finally {
        await source.close()
      }
    },
    copyTo: async (object, path) => {
      const source = await openObject(pathOf(object.sha256))
      const part = `${path}.part`
      try {
        const target = await open(part, 'w', 0o600)
        try {
          requireSame(object, await copy(source, target))
          await target.sync()
        } finally {
          await target.close()
        }
        await rename(part, path)
      } finally {
        await source.close()
      }
    },
    linkTo: ({ sha256 }, path) => link(pathOf(sha256), path),
    mark: ({ sha256 }, at) => utimes(pathOf(sha256), at, at),
    sweep: async (before) => {
      let removed = 0
      for (const group of await readdir(objects).catch(() => [])) {
        for (const name of await readdir(join(objects, group))) {
          const path = join(objects, group, name)
          if ((await lstat(path)).mtimeMs >= before.getTime()) continue
          await rm(path)
          removed++
        }
      }
      for (const group of await readdir(known).catch(() => [])) {
        for await (const { name } of await opendir(join(known, group))) {
          const entry = join(known, group, name)
          const isGone = (await lstat(pathOf(await readlink(entry))).catch(ignoring('ENOENT'))) === undefined
          if (isGone) await rm(entry)
        }
      }
      return removed
    },
  }
}

/** For `.catch`: undefined for system errors with these codes. */
export function ignoring(...codes: string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}

async function openObject(path: string): Promise<FileHandle> {
  const source = await open(path, 'r').catch(ignoring('ENOENT'))
  if (source) return source
  throw new Error(`the backup is damaged: ${path} is missing`)
}

function requireSame(expected: StoredObject, found: StoredObject): void {
  if (expected.sha256 === found.sha256 && expected.size === found.size) return
  throw new Error(`the backup is damaged: object ${expected.sha256} has ${found.size} bytes with another SHA-256`)
}

async function hashOf(source: FileHandle): Promise<StoredObject> {
  return pass(source, async () => undefined)
}

function copy(source: FileHandle, target: FileHandle): Promise<StoredObject> {
  return pass(source, async (bytes, at) => {
    await target.write(bytes, 0, bytes.length, at)
  })
}

async function pass(source: FileHandle, use: (bytes: Buffer, at: number) => Promise<void>): Promise<StoredObject> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(CHUNK)
  let size = 0
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, CHUNK, size)
    if (bytesRead === 0) return { sha256: hash.digest('hex'), size }
    const bytes = buffer.subarray(0, bytesRead)
    hash.update(bytes)
    await use(bytes, size)
    size += bytesRead
  }
}
