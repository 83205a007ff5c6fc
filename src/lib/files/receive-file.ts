import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'

/** The outcome of receiving a file. */
export type ReceivedBytes =
  | { outcome: 'received'; sha256: Buffer }
  /** The source is at the limit and still holds the rest. */
  | { outcome: 'too_big' }
  /** The source ended early. */
  | { outcome: 'broken_off' }

/** Writes a source to a new file, chunk by chunk; `isWanted` decides whether a chunk is written. */
export async function receiveFile(
  source: Readable,
  path: string,
  maxBytes: number,
  isWanted: (chunk: Buffer) => boolean = () => true,
): Promise<ReceivedBytes> {
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  let size = 0
  try {
    // Destroying the request would lose its answer.
    for await (const given of source.iterator({ destroyOnReturn: false })) {
      const chunk = Buffer.from(given)
      size += chunk.length
      if (size > maxBytes) return { outcome: 'too_big' }
      hash.update(chunk)
      if (isWanted(chunk)) await file.writeFile(chunk)
    }
    return { outcome: 'received', sha256: hash.digest() }
  } catch (error) {
    if (source.errored) return { outcome: 'broken_off' }
    throw error
  } finally {
    await file.close()
  }
}
