import type { FileHandle } from 'node:fs/promises'

/** Reads a file from `position`; fewer than `length` bytes at its end. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}
