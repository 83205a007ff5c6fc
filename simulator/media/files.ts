import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Files that came in, in a folder of this simulator alone, which is made when it is first needed. */
export class MediaFolder {
  #folder: Promise<string> | null = null
  #closed = false

  /** A path in the folder where no file is yet. */
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

/** What was received of a file. */
export interface ReceivedFile {
  /** Bytes, those beyond the limit included. */
  size: number
  /** Lower hex, of what is within the limit. */
  sha256: string
  /** The first bytes. */
  head: Buffer
}

interface ReceiveOptions {
  /** Where the bytes go; null drops them. */
  path: string | null
  /** Bytes; what is beyond is read and dropped, so that the sender gets to hear of it. */
  limit: number
  /** How many of the first bytes are handed back. */
  headLength: number
}

/** Reads a file chunk by chunk, so that little of it is ever in memory. Throws, leaving no file, when it breaks off. */
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
