import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { openBlobStore } from '../../blobs/open.js'
import type { Config } from '../../config/settings.js'
import { findLastBackup } from '../../database/embedded.js'
import { findDiskRoom } from '../../lib/files/disk.js'
import { isFfmpegInstalled } from '../../lib/files/ffmpeg.js'
import { packageVersion } from '../../lib/files/package-version.js'
import { type Check, type Finding, failed, ok, warning } from './check.js'

const GIGABYTE = 1e9
const MEGABYTE = 1e6
const LITTLE_SPACE = 2 * GIGABYTE
const NO_SPACE = 0.2 * GIGABYTE

/** The checks of this machine: versions, the data folder, and where files are kept. */
export function machineChecks(config: Config): Check[] {
  return [
    {
      name: 'versions',
      remedy: 'install Parley again',
      run: async () => ok(`Parley ${packageVersion}, Node ${process.version}`),
    },
    { name: 'ffmpeg', remedy: 'see whether ffmpeg -version works on this machine', run: checkFfmpeg },
    { name: 'data folder', remedy: `let this user write to ${config.dataDir}`, run: () => checkFolder(config.dataDir) },
    ...(config.databaseUrl === undefined ? [backupCheck(config)] : []),
    {
      name: 'files',
      remedy: 'check PARLEY_MEDIA_URL, the credentials and the policy (docs/production.md#files)',
      run: () => checkStore(config),
    },
  ]
}

const HOUR_MS = 3_600_000
const OLD_HOURS = 48

/** An external database has backups of its own, of which nothing is known here. */
function backupCheck({ dataDir }: Config): Check {
  return {
    name: 'backup',
    remedy: `let this user read ${dataDir}`,
    run: async () => {
      const at = await findLastBackup(dataDir)
      // Somebody may back up the disk; who makes no backup has been told in docs/production.md.
      if (at === null) return ok('none was made with parley backup')
      const hours = Math.floor((Date.now() - at.getTime()) / HOUR_MS)
      const found = `the last one is ${hours} h old`
      return hours < OLD_HOURS ? ok(found) : warning(found, 'see why no newer one was made (docs/backup.md)')
    },
  }
}

async function checkFfmpeg(): Promise<Finding> {
  if (await isFfmpegInstalled()) return ok('installed')
  return warning('not installed', 'install it to convert voice notes and stickers (docs/production.md#without-ffmpeg)')
}

async function checkFolder(folder: string): Promise<Finding> {
  const room = await findDiskRoom(folder)
  if (room === null) return warning(`${folder} does not exist yet`, 'it is created when the service starts')
  const { free } = room
  if (free < NO_SPACE) {
    const found = `the disk of ${folder} is full: ${Math.floor(free / MEGABYTE)} MB are free`
    return failed(found, 'make room: files and imports pass through this folder')
  }
  await rm(await mkdtemp(join(folder, 'doctor-')), { recursive: true })
  const found = `${folder} can be written to; ${(free / GIGABYTE).toFixed(1)} GB are free`
  return free < LITTLE_SPACE ? warning(found, 'make room before it is full') : ok(found)
}

/** Stores a small file, reads it and removes it. */
async function checkStore(config: Config): Promise<Finding> {
  const what = config.media.kind === 'files' ? 'the data folder' : 'the bucket'
  if (config.media.kind === 'files' && !(await isThere(join(config.dataDir, 'media')))) {
    return ok('no file has been stored yet')
  }
  const store = await openBlobStore(config.media, config.dataDir)
  const folder = await mkdtemp(join(tmpdir(), 'parley-doctor-'))
  const key = `doctor/${randomUUID()}`
  try {
    const path = join(folder, 'probe')
    await writeFile(path, 'probe')
    await store.put(key, path, 'text/plain')
    const stored = await store.open(key)
    const isSame = stored !== null && (await buffer(stored)).toString() === 'probe'
    return isSame ? ok(`${what} stores, reads and removes`) : failed(`${what} loses files`, 'use another store')
  } finally {
    await store.remove([key])
    await store.close()
    await rm(folder, { recursive: true, force: true })
    // A store of files keeps a folder for each organization.
    if (config.media.kind === 'files')
      await rm(join(config.dataDir, 'media', 'doctor'), { recursive: true, force: true })
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
