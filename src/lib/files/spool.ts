import { createHash, randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from './make-folder.js'

/** Files for a moment, in one folder, which several processes may share. */
export interface Spool {
  /** Hands `work` a path where no file is yet, and removes what is there when it ends, however it ends. */
  use<Result>(work: (path: string) => Promise<Result>): Promise<Result>
  /** Removes the files of processes of this machine that are gone, and those of any process that nobody wrote to for so long; tells how many. */
  sweep(olderThanMs: number): Promise<number>
}

/** Whose file it is: the machine, the process id, and when the process began, since ids are used again. */
interface Owner {
  machine: string
  pid: number
  since: string
}

// Recognisable, so that a folder which holds other things too loses none of them. Older versions did not name the process.
const NAME = /^spool-(?:(?<machine>[0-9a-f]{12})-(?<pid>\d+)-(?<since>[0-9a-z]+)-)?[0-9a-f-]{36}$/

/** A spool in `folder`, which is made when it is first needed, for this user only. */
export function createSpool(folder: string): Spool {
  const self: Owner = {
    machine: nameMachine(),
    pid: process.pid,
    since: Math.round(performance.timeOrigin).toString(36),
  }
  return {
    use: (work) => use(folder, self, work),
    sweep: (olderThanMs) => sweep(folder, self, Date.now() - olderThanMs),
  }
}

async function use<Result>(
  folder: string,
  { machine, pid, since }: Owner,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  await makeFolder(folder, 0o700)
  const path = join(folder, `spool-${machine}-${pid}-${since}-${randomUUID()}`)
  try {
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}

async function sweep(folder: string, self: Owner, before: number): Promise<number> {
  let removed = 0
  for (const name of (await readdir(folder).catch(ignoreMissing)) ?? []) {
    const match = NAME.exec(name)
    if (!match) continue
    const path = join(folder, name)
    const found = await lstat(path).catch(ignoreMissing)
    if (!found?.isFile() || (found.mtimeMs >= before && !isGone(match.groups ?? {}, self))) continue
    await rm(path, { force: true })
    removed++
  }
  return removed
}

/** Whether a file's process has surely ended. Of other machines that share the folder nothing is known. */
function isGone({ machine, pid, since }: Record<string, string | undefined>, self: Owner): boolean {
  if (machine !== self.machine) return false
  if (Number(pid) === self.pid) return since !== self.since
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Machines, and containers on one machine, do not see each other's processes. */
function nameMachine(): string {
  let processes = ''
  try {
    processes = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux has containers of processes.
  }
  return createHash('sha256').update(`${hostname()} ${processes}`).digest('hex').slice(0, 12)
}

/** The folder may not be made yet, and another process may remove a file first. */
function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error
  return null
}
