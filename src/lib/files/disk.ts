import { statfs } from 'node:fs/promises'

/** The room of the disk that holds a folder, in bytes. */
export interface DiskRoom {
  size: number
  /** What this user may still write. */
  free: number
}

/** The room for what is written below `folder`; null if it does not exist. */
export async function findDiskRoom(folder: string): Promise<DiskRoom | null> {
  const found = await statfs(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found === null) return null
  const { blocks, bavail, bsize } = found
  return { size: blocks * bsize, free: bavail * bsize }
}

/** True if a file could not be written because its disk, or this user's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}
