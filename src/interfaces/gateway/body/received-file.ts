import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { createBase64Decoder } from '../../../lib/bytes/base64-decoder.js'

/** A file that came with a request, and lies in the spool while it is answered. */
export interface ReceivedFile {
  path: string
  sha256: string
  /** As a form tells it; null where nothing does. */
  filename: string | null
}

/** A file that is being received. */
export interface FileWriter {
  write(bytes: Buffer): Promise<void>
  /** Closes it; no more than once. Null of one whose text is not what it should be. */
  end(): Promise<ReceivedFile | null>
}

/** Writes bytes into a new file at `path`. */
export async function writeBytes(path: string, filename: string | null = null): Promise<FileWriter> {
  const file = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  return {
    write: async (bytes) => {
      hash.update(bytes)
      await file.writeFile(bytes)
    },
    end: async () => {
      await file.close()
      return { path, sha256: hash.digest('hex'), filename }
    },
  }
}

/** Writes what base64, or a `data:` URL, holds. The rest of what turns out to be none is passed over. */
export async function writeBase64(path: string): Promise<FileWriter> {
  const decoder = createBase64Decoder()
  const file = await writeBytes(path)
  let isMalformed = false
  const put = async (bytes: Buffer | null) => {
    if (bytes === null) isMalformed = true
    else if (bytes.length > 0) await file.write(bytes)
  }
  return {
    write: async (text) => {
      if (!isMalformed) await put(decoder.write(text))
    },
    end: async () => {
      await put(decoder.end())
      const received = await file.end()
      return isMalformed ? null : received
    },
  }
}
