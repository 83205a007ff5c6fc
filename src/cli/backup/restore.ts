import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../lib/files/make-folder.js'
import { syncFolder } from '../../lib/files/sync-folder.js'
import { UNFINISHED_RESTORE } from '../environment.js'
import { CliFailure } from '../failure.js'
import type { Progress } from '../progress.js'
import { type BackupHead, unpackArchive } from './archive.js'

/** The parts of a data folder. */
const PARTS = ['media', 'secrets.json', 'up.json', 'postgres']
/** Where a restore grows inside the data folder. */
const GROWING = 'restoring'

/** A restored backup: `found` is what `look` returned. */
export interface Restored<Found> extends BackupHead {
  found: Found
  /** Where the content of the data folder was moved to; null: there was none. */
  replaced: string | null
}

/**
 * Restores an archive into the data folder, on which no service may start meanwhile. It is unpacked beside the content
 * of the folder, and `look` opens the database there; only then is it moved into place. With `replace`, what is there is
 * moved to `replaced-…`; without, a folder with content is refused. Throws a CliFailure.
 */
export async function restoreBackup<Found>(
  input: AsyncIterable<Uint8Array>,
  dataDir: string,
  { replace, progress, look }: { replace: boolean; progress: Progress; look: (folder: string) => Promise<Found> },
): Promise<Restored<Found>> {
  const present = await partsOf(dataDir)
  if (present.length > 0 && !replace) {
    throw new CliFailure(
      1,
      `${dataDir} is not empty (${present.join(', ')}): name another PARLEY_DATA_DIR, or move what is there aside with --replace`,
    )
  }
  const growing = join(dataDir, GROWING)
  // An interrupted restore may have left it.
  await rm(growing, { recursive: true, force: true })
  try {
    await makeFolder(growing, 0o700)
    progress.begin('restoring')
    const head = await unpackArchive(input, growing, progress, { scratch: false })
    const found = await look(growing)
    return { ...head, found, replaced: await moveIntoPlace(growing, dataDir) }
  } finally {
    await rm(growing, { recursive: true, force: true })
  }
}

/** Marks the data folder meanwhile, so that no service starts on a mixture. Returns where its content was moved to. */
async function moveIntoPlace(growing: string, dataDir: string): Promise<string | null> {
  const mark = join(dataDir, UNFINISHED_RESTORE)
  await (await open(mark, 'w', 0o600)).close()
  await syncFolder(dataDir)
  const present = await partsOf(dataDir)
  const parts = await partsOf(growing)
  const replaced = join(dataDir, `replaced-at-${new Date().toISOString().replace(/[-:.]/g, '')}`)
  const hasReplaced = parts.some((part) => present.includes(part))
  if (hasReplaced) await mkdir(replaced, { mode: 0o700 })
  for (const part of parts) {
    if (present.includes(part)) await rename(join(dataDir, part), join(replaced, part))
    await rename(join(growing, part), join(dataDir, part))
  }
  if (hasReplaced) await syncFolder(replaced)
  await syncFolder(dataDir)
  await rm(mark)
  await syncFolder(dataDir)
  return hasReplaced ? replaced : null
}

async function partsOf(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return PARTS.filter((part) => names.includes(part))
}
