import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeFolder } from '../../lib/files/make-folder.js'
import { syncFolder } from '../../lib/files/sync-folder.js'
import { CliFailure } from '../failure.js'
import type { Progress } from '../progress.js'
import { type BackupFile, type BackupHead, listBackups, readManifest } from './manifest.js'
import { ignoring, openObjectStore } from './objects.js'

/** The parts of a data folder, the database last: with it, the folder is a service's. */
const PARTS = ['media', 'secrets.json', 'up.json', 'postgres']
/** Where a restore grows inside the data folder, and the file that tells that all is there. */
const GROWING = 'restoring'
const COMPLETE = 'complete'

/** A backup in its folder. */
export interface ChosenBackup {
  folder: string
  name: string
}

/**
 * The backup at a path: a folder of backups (the newest), or one of its manifests, with or without the extension.
 * Throws a CliFailure with code 2.
 */
export async function chooseBackup(path: string): Promise<ChosenBackup> {
  const isFolder = (await stat(path).catch(ignoring('ENOENT')))?.isDirectory() === true
  const folder = isFolder ? path : dirname(path)
  const names = await listBackups(folder)
  const name = isFolder ? names.at(-1) : basename(path, '.manifest')
  if (name !== undefined && names.includes(name)) return { folder, name }
  throw new CliFailure(2, `There is no complete backup at ${path}: name a folder that parley backup has written to`)
}

/** Reads every file of a backup and throws if one is missing or was changed. */
export async function checkBackup({ folder, name }: ChosenBackup, progress: Progress): Promise<BackupHead> {
  const store = openObjectStore(folder)
  progress.begin('checking')
  return readManifest(folder, name, async (file) => {
    await store.check(file)
    progress.advance(1)
  })
}

/** Writes the files of a backup below `target`; those that are there already are kept. `link`: media share their bytes. */
export async function writeFiles(
  { folder, name }: ChosenBackup,
  target: string,
  progress: Progress,
  { link }: { link: boolean },
): Promise<void> {
  const store = openObjectStore(folder)
  progress.begin('writing')
  const folders = new Set<string>()
  const writeFile = async (file: BackupFile) => {
    const path = join(target, file.path)
    const parent = file.path.endsWith('/') ? path : dirname(path)
    if (!folders.has(parent)) {
      await makeFolder(parent, 0o700)
      folders.add(parent)
    }
    if (!file.path.endsWith('/') && (await sizeOf(path)) !== file.size) {
      if (link && file.path.startsWith('media/')) await store.linkTo(file, path)
      else await store.copyTo(file, path)
    }
    progress.advance(1)
  }
  await readManifest(folder, name, writeFile)
  for (const written of folders) await syncFolder(written)
}

/**
 * Restores a backup into the data folder of a stopped service. It is checked as a whole first. An interrupted restore
 * of the same backup continues. What the folder holds is moved to `replaced-…` in it with `replace`; without, a folder
 * with a service's data is refused. Throws a CliFailure.
 */
export async function restoreBackup(
  chosen: ChosenBackup,
  dataDir: string,
  replace: boolean,
  progress: Progress,
): Promise<BackupHead & { replaced: string | null }> {
  const growing = join(dataDir, GROWING, chosen.name)
  const isComplete = (await sizeOf(join(growing, COMPLETE))) !== null
  const present = await partsOf(dataDir)
  if (present.length > 0 && !isComplete && !replace) {
    throw new CliFailure(
      1,
      `${dataDir} is not empty (${present.join(', ')}): name another PARLEY_DATA_DIR, or move what is there aside with --replace`,
    )
  }
  const head = await checkBackup(chosen, progress)
  if (!isComplete) {
    await writeFiles(chosen, growing, progress, { link: false })
    await writeFile(join(growing, COMPLETE), '')
    await syncFolder(growing)
  }
  const replaced = join(dataDir, `replaced-by-${chosen.name}`)
  let hasReplaced = false
  for (const part of PARTS) {
    // Of what an interrupted restore has moved here already, nothing is left in the growing folder.
    if ((await stat(join(growing, part)).catch(ignoring('ENOENT'))) === undefined) continue
    if (present.includes(part)) {
      await mkdir(replaced, { recursive: true, mode: 0o700 })
      await rename(join(dataDir, part), join(replaced, part))
      hasReplaced = true
    }
    await rename(join(growing, part), join(dataDir, part))
  }
  await syncFolder(dataDir)
  await rm(join(dataDir, GROWING), { recursive: true, force: true })
  return { ...head, replaced: hasReplaced ? replaced : null }
}

async function partsOf(dataDir: string): Promise<string[]> {
  const names = (await readdir(dataDir).catch(ignoring('ENOENT'))) ?? []
  return PARTS.filter((part) => names.includes(part))
}

async function sizeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(ignoring('ENOENT'))
  return found?.isFile() ? found.size : null
}
