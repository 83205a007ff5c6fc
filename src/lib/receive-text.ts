import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'

/** What became of a text that was to be received. */
export type ReceivedText =
  | { outcome: 'received'; sha256: Buffer }
  /** The source stands where the limit was passed, and still holds the rest. */
  | { outcome: 'too_big' }
  | { outcome: 'not_utf8' }
  /** The source broke before its end. */
  | { outcome: 'broken_off' }

/** Writes all that a source holds into a new file, chunk by chunk, and makes sure that it is UTF-8. */
export async function receiveText(source: Readable, path: string, maxBytes: number): Promise<ReceivedText> {
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  const utf8 = createUtf8Check()
  let size = 0
  try {
    // A request must not be destroyed with what is left of it: its answer would be lost.
    for await (const given of source.iterator({ destroyOnReturn: false })) {
      const chunk = Buffer.from(given)
      size += chunk.length
      if (size > maxBytes) return { outcome: 'too_big' }
      hash.update(chunk)
      if (utf8.takes(chunk)) await file.writeFile(chunk)
    }
    return utf8.ends() ? { outcome: 'received', sha256: hash.digest() } : { outcome: 'not_utf8' }
  } catch (error) {
    if (source.errored) return { outcome: 'broken_off' }
    throw error
  } finally {
    await file.close()
  }
}

/** Says of each chunk whether all of them so far may be UTF-8, and at the end whether they are. */
function createUtf8Check() {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let valid = true
  const decode = (chunk?: Buffer): boolean => {
    try {
      if (valid) decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      valid = false
    }
    return valid
  }
  return { takes: (chunk: Buffer) => decode(chunk), ends: () => decode() }
}
