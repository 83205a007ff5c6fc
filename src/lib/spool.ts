import { randomUUID } from 'node:crypto'
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from './make-folder.js'

/** Files for a moment, in one folder, which several processes may share. */
export interface Spool {
  /** Hands `work` a path where no file is yet, and removes what is there when it ends, however it ends. */
  use<Result>(work: (path: string) => Promise<Result>): Promise<Result>
  /** Removes the files of this and other spools that nobody wrote to for so long; tells how many. */
  sweep(olderThanMs: number): Promise<number>
}

// Recognisable, so that a folder which holds other things too loses none of them.
const NAME = /^spool-[0-9a-f-]{36}$/

/** A spool in `folder`, which is made when it is first needed, for this user only. */
export function createSpool(folder: string): Spool {
  return {
    use: (work) => use(folder, work),
    sweep: (olderThanMs) => sweep(folder, Date.now() - olderThanMs),
  }
}

async function use<Result>(folder: string, work: (path: string) => Promise<Result>): Promise<Result> {
  await makeFolder(folder, 0o700)
  const path = join(folder, `spool-${randomUUID()}`)
  try {
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}

async function sweep(folder: string, before: number): Promise<number> {
  let removed = 0
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    const found = await lstat(path).catch(ignoreMissing)
    if (!found?.isFile() || found.mtimeMs >= before) continue
    await rm(path, { force: true })
    removed++
  }
  return removed
}

async function namesIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(ignoreMissing)) ?? []
  return names.filter((name) => NAME.test(name))
}

/** The folder may not be made yet, and another process may remove a file first. */
function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error
  return null
}
