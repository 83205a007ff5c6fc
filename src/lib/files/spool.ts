import { createHash, randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from './make-folder.js'

/** Temporary files in one folder, which several processes may share. */
export interface Spool {
  /** Gives `work` an unused path and removes the file at the end in any case. */
  use<Result>(work: (path: string) => Promise<Result>): Promise<Result>
  /**
   * Removes files of dead processes of this machine, and files that were last written more than `olderThanMs` ago by
   * others than this process; returns their number.
   */
  sweep(olderThanMs: number): Promise<number>
}

/** The owner of a file: the machine, the process id, and the start of the process, since ids are reused. */
interface Owner {
  machine: string
  pid: number
  since: string
}

// Recognizable, so that other files in the folder are safe.
const NAME = /^spool-(?<machine>[0-9a-f]{12})-(?<pid>\d+)-(?<since>[0-9a-z]+)-[0-9a-f-]{36}$/

/** A spool in `folder`, which is created when first needed, accessible to this user only. */
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
    if (!found?.isFile()) continue
    const isLeft = isGone(match.groups ?? {}, self) ?? found.mtimeMs < before
    if (!isLeft) continue
    await rm(path, { force: true })
    removed++
  }
  return removed
}

/** Whether the file's process has ended; null: unknown, because it may be of another machine, or its id is used again. */
function isGone({ machine, pid, since }: Record<string, string | undefined>, self: Owner): boolean | null {
  if (machine !== self.machine) return null
  if (Number(pid) === self.pid) return since !== self.since
  try {
    process.kill(Number(pid), 0)
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? true : null
  }
}

/** Machines, and containers on one machine, do not see each other's processes. */
function nameMachine(): string {
  let processes = ''
  try {
    processes = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux has process namespaces.
  }
  return createHash('sha256').update(`${hostname()} ${processes}`).digest('hex').slice(0, 12)
}

/** The folder may not exist yet, and another process may remove a file first. */
function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error
  return null
}
