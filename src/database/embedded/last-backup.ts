import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoring } from '../../lib/files/ignoring.js'

const NAME = 'last-backup'

/** Notes in the data folder that a backup of it was completed, which leads back to this point. */
export async function noteBackup(dataDir: string, point: Date): Promise<void> {
  const path = join(dataDir, NAME)
  // Whoever makes backups need not be the user of the service, which shows it, nor the one who made the last one.
  await rm(path, { force: true })
  await writeFile(path, `${point.toISOString()}\n`, { mode: 0o644 })
}

/** The point to which the last backup of the data folder leads back; null if none is known. */
export async function findLastBackup(dataDir: string): Promise<Date | null> {
  const text = await readFile(join(dataDir, NAME), 'utf8').catch(ignoring('ENOENT'))
  const at = new Date((text ?? '').trim())
  return Number.isNaN(at.getTime()) ? null : at
}
