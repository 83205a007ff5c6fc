import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { access, chmod, constants, lchown, lstat, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { ignoring } from '../../lib/files/ignoring.js'
import { makeFolder } from '../../lib/files/make-folder.js'
import { EmbeddedDatabaseError } from './error.js'

export interface Owner {
  uid: number
  gid: number
}

/** The paths of one embedded database, absolute and with links resolved. */
export interface Site {
  /** PostgreSQL's data folder; may not exist yet */
  folder: string
  /** the folder above it, which exists */
  parent: string
  /** holds the Unix sockets; may not exist yet */
  socketFolder: string
  /** the owner of the data folder; undefined if it does not exist yet */
  owner: Owner | undefined
  /** the major version that wrote the data folder; undefined if there is no database yet */
  version: string | undefined
}

/** The user id that unprivileged services share by convention; macOS writes -2 unsigned. */
const NOBODY = process.platform === 'darwin' ? 4_294_967_294 : 65_534

/** The owner of the database if root starts it first. */
export const nobody: Owner = { uid: NOBODY, gid: NOBODY }

/** The longest path of a Unix socket is 103 bytes on macOS; the file names in the folder take up to 30. */
const LONGEST_SOCKET_FOLDER = 70

/**
 * Inspects the folder of the database and creates its parent. Throws EmbeddedDatabaseError if this user cannot use it,
 * or it contains something else.
 */
export async function inspectSite(folder: string): Promise<Site> {
  try {
    await makeFolder(dirname(resolve(folder)))
    const path = await resolveFolder(folder)
    const parent = dirname(path)
    const owner = await readOwner(path)
    if (owner) refuseForeign(path, owner)
    const version = owner && (await readVersion(path))
    if (!version) await access(parent, constants.W_OK | constants.X_OK)
    return { folder: path, parent, socketFolder: socketFolderOf(path), owner, version }
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new EmbeddedDatabaseError(
      `database folder ${folder} cannot be used (${error.message}): make it writable for this user, or set another PARLEY_DATA_DIR`,
    )
  }
}

/**
 * Creates the folder of the sockets, owned by the server's user and closed to others, because access to it makes one
 * the database's superuser. Throws EmbeddedDatabaseError if another user owns it.
 */
export async function openSocketFolder(site: Site, owner: Owner): Promise<void> {
  await mkdir(site.socketFolder, { mode: 0o700 }).catch(ignoring('EEXIST'))
  const found = await lstat(site.socketFolder).catch(ignoring('ENOENT'))
  // Another claimant stepped back and just removed the folder.
  if (!found) return openSocketFolder(site, owner)
  if (!isTrusted(site, found)) {
    throw new EmbeddedDatabaseError(`socket folder ${site.socketFolder} belongs to another user: remove it`)
  }
  if (found.uid !== owner.uid) await lchown(site.socketFolder, owner.uid, owner.gid).catch(ignoring('ENOENT'))
  if ((found.mode & 0o777) !== 0o700) await chmod(site.socketFolder, 0o700).catch(ignoring('ENOENT'))
}

/**
 * False if there is no socket folder, or neither this user nor the database's owns it: the parent is open to everyone.
 */
export async function isTrustedSocketFolder(site: Site): Promise<boolean> {
  const found = await lstat(site.socketFolder).catch(ignoring('ENOENT'))
  return found !== undefined && isTrusted(site, found)
}

function isTrusted(site: Site, found: Stats): boolean {
  if (!found.isDirectory()) return false
  const user = process.geteuid?.()
  return found.uid === user || (user === 0 && (found.uid === nobody.uid || found.uid === site.owner?.uid))
}

async function resolveFolder(folder: string): Promise<string> {
  const found = await realpath(folder).catch(ignoring('ENOENT'))
  return found ?? join(await realpath(dirname(resolve(folder))), basename(resolve(folder)))
}

async function readOwner(folder: string): Promise<Owner | undefined> {
  const found = await stat(folder).catch(ignoring('ENOENT'))
  return found && { uid: found.uid, gid: found.gid }
}

function refuseForeign(folder: string, owner: Owner): void {
  const user = process.geteuid?.()
  if (user === 0 || user === owner.uid) return
  throw new EmbeddedDatabaseError(
    `database folder ${folder} belongs to user id ${owner.uid}, and this process runs as ${user}: run as that user, or chown -R the folder`,
  )
}

async function readVersion(folder: string): Promise<string | undefined> {
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(ignoring('ENOENT'))
  if (version) return version.trim()
  if ((await readdir(folder)).length === 0) return undefined
  throw new EmbeddedDatabaseError(
    `database folder ${folder} is not empty and holds no database: move its files away, or set another PARLEY_DATA_DIR`,
  )
}

function socketFolderOf(folder: string): string {
  const name = `parley-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`
  const path = join(tmpdir(), name)
  return Buffer.byteLength(path) <= LONGEST_SOCKET_FOLDER ? path : join('/tmp', name)
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
