import type { FileHandle } from 'node:fs/promises'
import { readAt } from './read-at.js'

interface Box {
  type: string
  /** Start and end of the content, in bytes from the start of the file. */
  start: number
  end: number
}

/** Bounds the reading of a hostile file; real ones have a few dozen boxes on these levels. */
const MAX_BOXES = 2_000

/**
 * The handlers of the tracks of an MP4-like file (ISO/IEC 14496-12, 8.4.3): `vide`, `soun` and others. Reads box
 * headers only; from a damaged file it returns what it can find. The library file-type does not look for tracks.
 */
export async function trackHandlers(file: FileHandle, size: number): Promise<string[]> {
  const handlers: string[] = []
  let left = MAX_BOXES

  async function walk(start: number, end: number): Promise<void> {
    let position = start
    while (position < end && left-- > 0) {
      const box = await readBox(file, position, end)
      if (!box) return
      if (['moov', 'trak', 'mdia'].includes(box.type)) await walk(box.start, box.end)
      if (box.type === 'hdlr') handlers.push((await readAt(file, box.start + 8, 4)).toString('latin1'))
      position = box.end
    }
  }

  await walk(0, size)
  return handlers
}

/** Null if there is no box, or one that exceeds its container. */
async function readBox(file: FileHandle, position: number, limit: number): Promise<Box | null> {
  const header = await readAt(file, position, 16)
  if (header.length < 8) return null
  const type = header.toString('latin1', 4, 8)
  const shortSize = header.readUInt32BE(0)
  if (shortSize === 0) return { type, start: position + 8, end: limit }
  const isLong = shortSize === 1
  if (isLong && header.length < 16) return null
  const start = position + (isLong ? 16 : 8)
  const end = position + (isLong ? Number(header.readBigUInt64BE(8)) : shortSize)
  return start <= end && end <= limit ? { type, start, end } : null
}
