import type { Readable } from 'node:stream'
import { type ReceivedBytes, receiveFile } from './receive-file.js'

export type ReceivedText = ReceivedBytes | { outcome: 'not_utf8' }

/** Writes a source to a new file, chunk by chunk, and checks that it is UTF-8. */
export async function receiveText(source: Readable, path: string, maxBytes: number): Promise<ReceivedText> {
  const utf8 = createUtf8Check()
  const received = await receiveFile(source, path, maxBytes, utf8.takes)
  return received.outcome === 'received' && !utf8.ends() ? { outcome: 'not_utf8' } : received
}

/** Reports after each chunk whether the text can still be UTF-8, and at the end whether it is. */
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
