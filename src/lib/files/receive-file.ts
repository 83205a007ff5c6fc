import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'

/** What became of a file that was to be received. */
export type ReceivedBytes =
  | { outcome: 'received'; sha256: Buffer }
  /** The source stands where the limit was passed, and still holds the rest. */
  | { outcome: 'too_big' }
  /** The source broke before its end. */
  | { outcome: 'broken_off' }

/** Writes all that a source holds into a new file, chunk by chunk; `isWanted`: whether a chunk is to be written. */
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
    // A request must not be destroyed with what is left of it: its answer would be lost.
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
