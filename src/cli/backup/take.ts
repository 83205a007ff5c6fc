import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../../config/settings.js'
import { takeBaseBackup } from '../../database/embedded.js'
import type { Connection } from '../../database/pool.js'
import { ignoring } from '../../lib/files/ignoring.js'
import { packageVersion } from '../../lib/files/package-version.js'
import { BACKUP_LOCK } from '../../storage/processes/backup-lock.js'
import { CliFailure } from '../failure.js'
import type { Progress } from '../progress.js'
import { type Archive, type BackupHead, beginArchive, type Write } from './archive.js'

/** A batch of removals of files ends before. */
const LOCK_MS = 60_000
/** Left out if the environment has the secrets. */
const SECRETS = 'secrets.json'
const UP_SETTINGS = 'up.json'

/**
 * Writes an archive of the embedded database that `connection` reaches, then of the files of messages, none of which is
 * removed meanwhile.
 */
export async function takeBackup(
  { dataDir, media, masterKeys }: Config,
  connection: Connection,
  write: Write,
  progress: Progress,
): Promise<BackupHead & { hasSecrets: boolean }> {
  const client = new pg.Client({ ...connection, application_name: 'parley backup' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await lockOut(client)
    const archive = beginArchive(write, progress)
    progress.begin('database')
    const point = await takeBaseBackup(client, join(dataDir, 'postgres'), async (file) => {
      const name = `postgres/${file.path}`
      if ('from' in file) await archive.addFile(name, file.from)
      else await archive.add(name, Buffer.byteLength(file.text), file.text === '' ? [] : [Buffer.from(file.text)])
    })
    const hasMedia = media.kind === 'files'
    progress.begin('files of messages')
    if (hasMedia) await addMedia(archive, join(dataDir, 'media'))
    const hasSecrets = masterKeys === undefined && (await archive.addFile(SECRETS, join(dataDir, SECRETS)))
    await archive.addFile(UP_SETTINGS, join(dataDir, UP_SETTINGS))
    const head: BackupHead = { format: 1, parley: packageVersion, point: point.toISOString(), hasMedia }
    await archive.seal(head)
    return { ...head, hasSecrets }
  } finally {
    await client.end()
  }
}

async function lockOut(client: pg.Client): Promise<void> {
  await client.query(`SET statement_timeout = ${LOCK_MS}`)
  await client.query(`SELECT pg_advisory_lock(${BACKUP_LOCK})`).catch((error: { code?: string }) => {
    if (error.code !== '57014') throw error
    throw new CliFailure(1, 'Another backup of this database is running: wait for its end')
  })
  await client.query('SET statement_timeout = 0')
}

/** The files are in folders of their organizations. */
async function addMedia(archive: Archive, media: string): Promise<void> {
  const folders = await opendir(media).catch(ignoring('ENOENT'))
  if (!folders) return
  for await (const { name } of folders) {
    if (name.startsWith('.')) continue
    const inside = await opendir(join(media, name)).catch(ignoring('ENOENT', 'ENOTDIR'))
    if (!inside) continue
    for await (const file of inside) {
      if (file.isFile()) await archive.addFile(`media/${name}/${file.name}`, join(media, name, file.name))
    }
  }
}
