import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientBase } from 'pg'

/**
 * A file that a backup copies, or one that it adds with this text; `path` is relative to the data folder. With `/` at
 * its end it is an empty folder.
 */
export type BaseFile = { path: string; from: string } | { path: string; text: string }

/** The contents of these folders are of no use to another server. The folders themselves must exist. */
const EMPTY_FOLDERS = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])
const LEFT_OUT = /^(postmaster\.(pid|opts)|backup_label|tablespace_map|pg_internal\.init|pgsql_tmp.*|.*\.signal|core)$/
const CONTROL = 'global/pg_control'

/**
 * Makes a base backup of the running server on `folder` by PostgreSQL's low-level API: `take` gets every file, those of
 * the log last. With the files at their paths, a server recovers to the point that is returned. `client` must stay
 * connected, and is the only user of its connection; a temporary replication slot keeps the log meanwhile.
 */
export async function takeBaseBackup(
  client: ClientBase,
  folder: string,
  take: (file: BaseFile) => Promise<void>,
): Promise<Date> {
  const slot = `parley_backup_${process.pid}_${Date.now()}`
  await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [slot])
  const started = await client.query<{ first: string }>(
    `SELECT pg_walfile_name(lsn) AS first FROM pg_backup_start('parley', true) AS lsn`,
  )
  for await (const path of walk(folder, '')) {
    if (path.endsWith('/')) await take({ path, text: '' })
    else if (path !== CONTROL) await take({ path, from: join(folder, path) })
  }
  await take({ path: CONTROL, from: join(folder, CONTROL) })
  const stopped = await client.query<{ last: string; labelfile: string; at: Date }>(
    `SELECT pg_walfile_name(lsn) AS last, labelfile, clock_timestamp() AS at FROM pg_backup_stop(false)`,
  )
  const [{ first } = { first: '' }] = started.rows
  const [end] = stopped.rows
  if (!end) throw new Error('PostgreSQL did not end the backup')
  await take({ path: 'backup_label', text: end.labelfile })
  // The server that starts on the files begins a new timeline, which separates its history from the original's.
  await take({ path: 'recovery.signal', text: '' })
  const log = join(folder, 'pg_wal')
  for await (const { name } of await opendir(log)) {
    const isNeeded = /^[0-9A-F]{24}$/.test(name) && name >= first && name <= end.last
    if (isNeeded || name.endsWith('.history')) await take({ path: `pg_wal/${name}`, from: join(log, name) })
  }
  await client.query('SELECT pg_drop_replication_slot($1)', [slot])
  return end.at
}

async function* walk(folder: string, inner: string): AsyncGenerator<string> {
  const entries = await opendir(join(folder, inner))
  let isEmpty = true
  for await (const entry of entries) {
    if (LEFT_OUT.test(entry.name)) continue
    const path = inner === '' ? entry.name : `${inner}/${entry.name}`
    if (entry.isDirectory()) {
      isEmpty = false
      if (EMPTY_FOLDERS.has(path)) yield `${path}/`
      else yield* walk(folder, path)
    } else if (entry.isFile()) {
      isEmpty = false
      yield path
    }
  }
  if (isEmpty) yield `${inner}/`
}
