import { execFile } from 'node:child_process'
import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ignoring } from '../../lib/files/ignoring.js'
import { folderInUse } from './error.js'
import { findHolder } from './hold.js'
import type { Site } from './site.js'

/** The record that a server writes into its data folder at the start. */
interface ServerRecord {
  pid: number
  socketFolder: string
  lines: string[]
}

const UNREACHABLE_EXIT_MS = 5_000
const SHUTDOWN_MS = 60_000
const POLL_MS = 20
const PROCESS_TABLE_BYTES = 64 * 1024 * 1024

const run = promisify(execFile)

/**
 * Clears the data folder for a start by the process that holds the claim: ends a server that outlived its process, and
 * disarms a record whose process id belongs to another program by now. Throws EmbeddedDatabaseError if a live process
 * serves the folder out of sight (another TMPDIR, another container).
 */
export async function clearLeftover(site: Site): Promise<void> {
  const record = await readRecord(site.folder)
  if (record) await clearRecorded(site, record)
  // The data folder has its own lock; these files only name a process id, which may belong to another program by now.
  await rm(join(site.socketFolder, '.s.PGSQL.5432.lock'), { force: true })
  await rm(join(site.socketFolder, '.s.PGSQL.5432'), { force: true })
}

/**
 * Waits until no program names the folder in its command line: one that an earlier process started there ends soon
 * after that process, but until then it creates files, and even the folder again. Gives up after a minute.
 */
export async function programsGone(folder: string): Promise<void> {
  for (let waited = 0; waited < SHUTDOWN_MS; waited += POLL_MS) {
    if (!(await listCommands()).some((command) => command.includes(` -D ${folder} `))) return
    await setTimeout(POLL_MS)
  }
}

async function clearRecorded(site: Site, record: ServerRecord): Promise<void> {
  const command = await readCommand(record.pid)
  if (isServerOf(site, command)) await endServer(site, record)
  else if (/postgres|postmaster/.test(command)) return // perhaps started by hand on a relative path: PostgreSQL decides
  await disown(site.folder)
}

async function endServer(site: Site, { pid, socketFolder }: ServerRecord): Promise<void> {
  const holder = socketFolder === site.socketFolder ? undefined : await findHolder(socketFolder)
  if (holder) throw folderInUse(site.folder)
  // Without its socket we do not know whether its owner lives; if not, its watchdog is ending it.
  const orphaned = await isReachable(socketFolder)
  if (orphaned) interrupt(pid)
  if (!(await exits(site, pid, orphaned ? SHUTDOWN_MS : UNREACHABLE_EXIT_MS))) throw folderInUse(site.folder)
}

/**
 * Replaces a process id that is dead, a zombie or another program's with ours, which PostgreSQL treats as stale
 * (PG_GRANDPARENT_PID). Removing the file would remove the check for orphaned backends too.
 */
async function disown(folder: string): Promise<void> {
  const record = await readRecord(folder)
  if (record) await writeFile(join(folder, 'postmaster.pid'), [process.pid, ...record.lines.slice(1)].join('\n'))
}

async function readRecord(folder: string): Promise<ServerRecord | undefined> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(ignoring('ENOENT'))
  const lines = text?.split('\n') ?? []
  const pid = Number(lines[0])
  return Number.isInteger(pid) && pid > 0 ? { pid, socketFolder: lines[4] ?? '', lines } : undefined
}

function isServerOf(site: Site, command: string): boolean {
  return command.includes(`/postgres -D ${site.folder} `)
}

/** The command line of a process; empty if there is none, or only its exit status is left. */
async function readCommand(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(ignoring('ENOENT', 'ESRCH'))
    return line?.replaceAll('\0', ' ') ?? ''
  }
  const found = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => undefined)
  return found?.stdout ?? ''
}

/** The command lines of all processes that this one can see. */
async function listCommands(): Promise<string[]> {
  if (process.platform === 'linux') {
    const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
    return Promise.all(pids.map(readCommand))
  }
  const found = await run('ps', ['-A', '-ww', '-o', 'command='], { maxBuffer: PROCESS_TABLE_BYTES })
  return found.stdout.split('\n')
}

function isReachable(socketFolder: string): Promise<boolean> {
  return access(join(socketFolder, '.s.PGSQL.5432')).then(
    () => true,
    () => false,
  )
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    ignoring('ESRCH', 'EPERM')(error as NodeJS.ErrnoException)
  }
}

async function exits(site: Site, pid: number, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += POLL_MS) {
    if (!isServerOf(site, await readCommand(pid))) return true
    await setTimeout(POLL_MS)
  }
  return false
}
