import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents, all with the given mode. It works level by level, because Node's recursive
 * mkdir never ends on file systems that refuse it (such as /proc). Throws Node's error of the failed level.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  if (await tryToMake(folder, mode)) return
  await makeFolder(dirname(folder), mode)
  // The parent exists now, so any other error is thrown.
  await mkdir(folder, { mode }).catch(ignoreExisting)
}

/** False if the parent is missing. */
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
