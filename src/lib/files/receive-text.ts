import type { Readable } from 'node:stream'
import { type ReceivedBytes, receiveFile } from './receive-file.js'

/** What became of a text that was to be received. */
export type ReceivedText = ReceivedBytes | { outcome: 'not_utf8' }

/** Writes all that a source holds into a new file, chunk by chunk, and makes sure that it is UTF-8. */
export async function receiveText(source: Readable, path: string, maxBytes: number): Promise<ReceivedText> {
  const utf8 = createUtf8Check()
  const received = await receiveFile(source, path, maxBytes, utf8.takes)
  return received.outcome === 'received' && !utf8.ends() ? { outcome: 'not_utf8' } : received
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
