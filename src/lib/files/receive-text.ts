import type { Readable } from 'node:stream'
import { type ReceivedBytes, receiveFile } from './receive-file.js'

export type ReceivedText =
  | { outcome: 'received'; sha256: Buffer; isUtf8: boolean }
  | Exclude<ReceivedBytes, { outcome: 'received' }>

/** Writes a source to a new file, chunk by chunk, and finds out whether it is UTF-8. */
export async function receiveText(source: Readable, path: string, maxBytes: number): Promise<ReceivedText> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isUtf8 = true
  const check = (chunk?: Buffer): true => {
    try {
      if (isUtf8) decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      isUtf8 = false
    }
    return true
  }
  const received = await receiveFile(source, path, maxBytes, check)
  if (received.outcome !== 'received') return received
  check()
  return { ...received, isUtf8 }
}
