import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const IN_MEMORY = '/dev/shm'
const LEAST_FREE_BYTES = 4 * 1024 ** 3
const PREFIX = 'parley-test-'

/** Creates a folder for databases: in memory if there is room, else among the temporary files. */
export async function makeDatabaseFolder(): Promise<string> {
  const memory = await statfs(IN_MEMORY).catch(() => null)
  const hasRoom = memory !== null && memory.bavail * memory.bsize >= LEAST_FREE_BYTES
  return mkdtemp(join(hasRoom ? IN_MEMORY : tmpdir(), `${PREFIX}${process.pid}-`))
}

/** Removes the in-memory folders of killed processes, which would fill the memory until a restart. */
export async function removeLeftovers(): Promise<void> {
  const names = await readdir(IN_MEMORY).catch(() => [])
  for (const name of names) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(IN_MEMORY, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
