import { randomBytes } from 'node:crypto'
import { lchown, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { syncFolder } from '../../lib/files/sync-folder.js'
import type { Account } from './account.js'
import type { Binaries } from './binaries.js'
import { EmbeddedDatabaseError } from './error.js'
import { type Exit, type Guarded, startGuarded } from './guarded.js'
import { programsGone } from './leftover.js'
import type { Owner, Site } from './site.js'

/** What is needed to run PostgreSQL's programs on one data folder. */
export interface Setup {
  site: Site
  account: Account
  binaries: Binaries
  /** additional PostgreSQL settings by name */
  settings: Record<string, string>
  log: (message: string) => void
}

export const PORT = 5432
export const NAME = 'parley'

const SETTINGS = {
  max_connections: '100',
  shared_buffers: '128MB',
  fsync: 'on',
  // A restored server finds its log in its folder, and asks for none from elsewhere.
  restore_command: 'false',
  synchronous_commit: 'on',
  wal_compression: 'on',
  max_wal_size: '2GB',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
}

const START_ATTEMPTS = 20
const START_PAUSE_MS = 100

/** PostgreSQL's messages while the last backends of a killed server are ending. */
const STILL_ENDING = /lock file .* already exists|shared memory block .* still in use/

/**
 * Creates the database: role and database `parley`, UTF-8, sorted by code point. It is created next to the data folder
 * and then moved, so that an interrupted first start leaves nothing that looks like a database. Throws
 * EmbeddedDatabaseError with PostgreSQL's message.
 */
export async function createDatabase(setup: Setup): Promise<void> {
  const { site, account } = setup
  await removeUnfinished(site)
  const growing = join(site.parent, `${unfinishedPrefix(site)}${randomBytes(4).toString('hex')}`)
  await mkdir(growing, { mode: 0o700 })
  if (account.owner) await lchown(growing, account.owner.uid, account.owner.gid)
  try {
    await runToEnd(setup, initdbCommand(setup, growing))
    await runToEnd(setup, createCommand(setup, growing))
    await rename(growing, site.folder)
  } catch (error) {
    await removeUnfinished(site)
    throw error
  }
  await syncFolder(site.parent)
}

/** Gives the data folder to the account's user; the folder itself comes last, as the mark that all is done. */
export async function takeOwnership(folder: string, owner: Owner): Promise<void> {
  const entries = await readdir(folder, { recursive: true })
  for (const entry of entries) await lchown(join(folder, entry), owner.uid, owner.gid)
  await lchown(folder, owner.uid, owner.gid)
}

/**
 * Starts the server and resolves when it accepts connections; messages from WARNING upwards go to `log`. Throws
 * EmbeddedDatabaseError with PostgreSQL's message if it does not start.
 */
export async function startServer(setup: Setup): Promise<Guarded> {
  for (let attempt = 1; ; attempt++) {
    const start = await startOnce(setup)
    if (start.outcome === 'ready') return start.server
    const { complaint } = start.exit
    if (attempt === START_ATTEMPTS || !STILL_ENDING.test(complaint)) throw failure(setup, complaint)
    await setTimeout(START_PAUSE_MS)
  }
}

type Start = { outcome: 'ready'; server: Guarded } | { outcome: 'failed'; exit: Exit }

async function startOnce(setup: Setup): Promise<Start> {
  let becomeReady = () => {}
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve
  })
  const server = startGuarded(setup.account, serverCommand(setup), (line) => {
    if (line.includes('database system is ready to accept connections')) becomeReady()
    if (/^(WARNING|ERROR|FATAL|PANIC):/.test(line) && !STILL_ENDING.test(line)) setup.log(line)
  })
  return Promise.race([
    ready.then((): Start => ({ outcome: 'ready', server })),
    server.exited.then((exit): Start => ({ outcome: 'failed', exit })),
  ])
}

/** clearLeftover recognizes a server by this beginning: `…/postgres -D <folder> `. */
function serverCommand({ binaries, site, settings }: Setup): string[] {
  const fixed = {
    listen_addresses: '',
    port: String(PORT),
    unix_socket_directories: `"${site.socketFolder}"`,
    log_destination: 'stderr',
    logging_collector: 'off',
    log_min_messages: 'warning',
    log_line_prefix: '',
    lc_messages: 'C',
  }
  return [binaries.postgres, '-D', site.folder, ...flags({ ...SETTINGS, ...settings, ...fixed })]
}

/**
 * Sorted by code point, but with a locale that knows the letters of all languages: pg_trgm asks the C library what a
 * letter is.
 */
function initdbCommand({ binaries, settings }: Setup, folder: string): string[] {
  const letters = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'
  const locale = ['--locale=C', `--lc-ctype=${letters}`, '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const speed = settings.fsync === 'off' ? ['--no-sync'] : []
  return [binaries.initdb, '-D', folder, '-U', NAME, '--auth=trust', '--encoding=UTF8', ...locale, ...speed]
}

function createCommand({ binaries, settings }: Setup, folder: string): string[] {
  const single = [
    binaries.postgres,
    '--single',
    '-D',
    folder,
    ...flags({ ...settings, exit_on_error: 'on' }),
    'postgres',
  ]
  return ['sh', '-c', `echo 'CREATE DATABASE ${NAME}' | "$@"`, 'sh', ...single]
}

function flags(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

async function runToEnd(setup: Setup, command: string[]): Promise<void> {
  const { code, complaint } = await startGuarded(setup.account, command).exited
  if (code !== 0) throw failure(setup, complaint)
}

function failure({ site }: Setup, complaint: string): EmbeddedDatabaseError {
  const remedy = REMEDIES.find(([sign]) => complaint.includes(sign))?.[1] ?? ''
  return new EmbeddedDatabaseError(`the embedded PostgreSQL did not start on ${site.folder}: ${complaint}${remedy}`)
}

/** What to do about a complaint, by a part of it. */
const REMEDIES = [
  ['user does not exist', ' (add it to /etc/passwd, or set PARLEY_DATABASE_URL)'],
  ['No space left on device', ' (make room on this disk, but delete nothing in this folder)'],
] as const

async function removeUnfinished(site: Site): Promise<void> {
  const unfinished = (await readdir(site.parent)).filter((name) => name.startsWith(unfinishedPrefix(site)))
  for (const name of unfinished) {
    const folder = join(site.parent, name)
    await programsGone(folder)
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function unfinishedPrefix(site: Site): string {
  return `${basename(site.folder)}.new-`
}
