import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are missing, all with the given mode. Level by level, because Node's own recursive
 * mkdir never ends where a file system answers that it cannot (such as /proc). Throws Node's error of the level that failed.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  if (await tryToMake(folder, mode)) return
  await makeFolder(dirname(folder), mode)
  // The folder above is there now: whatever is wrong with this one is told.
  await mkdir(folder, { mode }).catch(ignoreExisting)
}

/** False when the folder above is missing. */
async function tryToMake(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && dirname(folder) !== folder) return false
    ignoreExisting(error)
  }
  return true
}

function ignoreExisting(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
}
