import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The folder for received files. Each simulator has its own; it is created on first use. */
export class MediaFolder {
  #folder: Promise<string> | null = null
  #closed = false

  /** A path in the folder for a new file. */
  async newPath(): Promise<string> {
    if (this.#closed) throw new Error('The simulator is closed')
    this.#folder ??= mkdtemp(join(tmpdir(), 'chat-simulator-'))
    return join(await this.#folder, randomUUID())
  }

  async remove(path: string): Promise<void> {
    await rm(path, { force: true })
  }

  /** Removes the folder and everything in it. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#folder) await rm(await this.#folder, { recursive: true, force: true })
  }
}

/** A received file. */
export interface ReceivedFile {
  /** The size in bytes, including those beyond the limit. */
  size: number
  /** Lower hex, of the bytes within the limit. */
  sha256: string
  /** The first bytes. */
  head: Buffer
}

interface ReceiveOptions {
  /** Where to write the bytes; null discards them. */
  path: string | null
  /** In bytes. Further bytes are read and discarded, so that the sender receives the refusal. */
  limit: number
  /** How many of the first bytes are returned. */
  headLength: number
}

/** Reads a file chunk by chunk, so that memory stays small. If the stream breaks off, it throws and leaves no file. */
export async function receiveFile(
  chunks: AsyncIterable<Buffer>,
  { path, limit, headLength }: ReceiveOptions,
): Promise<ReceivedFile> {
  const file = path === null ? null : await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let size = 0
  let head = Buffer.alloc(0)
  try {
    for await (const chunk of chunks) {
      if (head.length < headLength) head = Buffer.concat([head, chunk.subarray(0, headLength - head.length)])
      size += chunk.length
      if (size > limit) continue
      hash.update(chunk)
      await file?.appendFile(chunk)
    }
  } catch (error) {
    if (path !== null) await rm(path, { force: true })
    throw error
  } finally {
    await file?.close()
  }
  return { size, sha256: hash.digest('hex'), head }
}
