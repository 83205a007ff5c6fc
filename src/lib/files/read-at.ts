import type { FileHandle } from 'node:fs/promises'

/** The bytes of a file from `position` on; fewer than `length` where it ends. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}
