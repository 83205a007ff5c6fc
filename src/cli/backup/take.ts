import { opendir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../../config/settings.js'
import { takeBaseBackup } from '../../database/embedded.js'
import type { Connection } from '../../database/pool.js'
import { makeFolder } from '../../lib/files/make-folder.js'
import { packageVersion } from '../../lib/files/package-version.js'
import { BACKUP_LOCK } from '../../storage/runtime/backup-lock.js'
import { CliFailure } from '../failure.js'
import type { Progress } from '../progress.js'
import { type BackupHead, beginManifest, listBackups, readManifest } from './manifest.js'
import { ignoring, openObjectStore, type StoredObject, UNFINISHED } from './objects.js'

/** A complete backup. */
export interface TakenBackup {
  name: string
  point: string
  files: number
  bytes: number
  hasMedia: boolean
  hasSecrets: boolean
  /** The names of older backups that were removed. */
  removed: string[]
}

/** A batch of removals of files ends before. */
const LOCK_MS = 60_000
/** Left out if the environment has the secrets. */
const SECRETS = 'secrets.json'
const UP_SETTINGS = 'up.json'

/**
 * Backs up the embedded database that `connection` reaches, then the files of messages, into `folder`; keeps the newest
 * `keep` backups. No file of a message is removed meanwhile. An interrupted backup leaves its objects to the next one.
 */
export async function takeBackup(
  config: Config,
  connection: Connection,
  folder: string,
  keep: number | null,
  progress: Progress,
): Promise<TakenBackup> {
  await makeFolder(folder, 0o700)
  const client = new pg.Client({ ...connection, application_name: 'parley backup' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await lockOut(client)
    await removeUnfinished(folder)
    return await writeBackup(config, client, folder, keep, progress)
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

/** What an interrupted backup left besides its objects. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (name.startsWith(UNFINISHED)) await rm(join(folder, name))
}

async function writeBackup(
  config: Config,
  client: pg.Client,
  folder: string,
  keep: number | null,
  progress: Progress,
): Promise<TakenBackup> {
  const store = openObjectStore(folder)
  const manifest = await beginManifest(folder)
  let files = 0
  let bytes = 0
  const add = async (path: string, stored: StoredObject | null) => {
    if (!stored) return false
    files++
    bytes += stored.size
    progress.advance(1)
    await manifest.add({ path, ...stored })
    return true
  }
  try {
    progress.begin('database')
    const at = await takeBaseBackup(client, join(config.dataDir, 'postgres'), async (file) => {
      const stored = 'text' in file ? await store.addText(file.text) : await store.add(file.from)
      await add(`postgres/${file.path}`, stored)
    })
    const hasMedia = config.media.kind === 'files'
    if (hasMedia) {
      progress.begin('files of messages')
      const media = join(config.dataDir, 'media')
      for await (const path of filesOf(media)) {
        await add(`media/${path}`, await store.addOnce(join(media, path), path))
      }
    }
    const hasSecrets =
      config.masterKeys === undefined && (await add(SECRETS, await store.add(join(config.dataDir, SECRETS))))
    await add(UP_SETTINGS, await store.add(join(config.dataDir, UP_SETTINGS)))
    const { rows } = await client.query<{ major: number }>(
      `SELECT current_setting('server_version_num')::int / 10000 AS major`,
    )
    const postgres = String(rows[0]?.major)
    const point = at.toISOString()
    const head: BackupHead = { format: 1, parley: packageVersion, postgres, point, hasMedia }
    await store.sync()
    const name = await manifest.finish(head)
    const removed = keep === null ? [] : await removeOld(folder, keep, progress)
    return { name, point, files, bytes, hasMedia, hasSecrets, removed }
  } finally {
    await manifest.close()
  }
}

/** `organization/id` of every file of messages. */
async function* filesOf(media: string): AsyncGenerator<string> {
  const folders = await opendir(media).catch(ignoring('ENOENT'))
  if (!folders) return
  for await (const organization of folders) {
    if (!organization.isDirectory() || organization.name.startsWith('.')) continue
    const inside = await opendir(join(media, organization.name)).catch(ignoring('ENOENT'))
    if (!inside) continue
    for await (const file of inside) if (file.isFile()) yield `${organization.name}/${file.name}`
  }
}

/** Removes all but the newest backups, and what only they used. */
async function removeOld(folder: string, keep: number, progress: Progress): Promise<string[]> {
  const names = await listBackups(folder)
  const old = names.slice(0, Math.max(names.length - keep, 0))
  if (old.length === 0) return []
  progress.begin('removing old backups')
  const store = openObjectStore(folder)
  for (const name of old) await rm(join(folder, `${name}.manifest`))
  const markedAt = new Date()
  for (const name of names.slice(-keep)) await readManifest(folder, name, (file) => store.mark(file, markedAt))
  await store.sweep(new Date(Math.floor(markedAt.getTime() / 1_000) * 1_000))
  return old
}
