import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { createBase64Decoder } from '../../lib/bytes/base64.js'

/** A file of a request, in the spool while the request is processed. */
export interface ReceivedFile {
  path: string
  sha256: string
  /** The file name given in a form; null if none was given. */
  filename: string | null
}

/** Reserves a path in the spool for the file of the request. Throws too_many_requests. */
export type ReserveSpoolPath = () => Promise<string>

/** Writes a file while it is received. */
export interface FileWriter {
  write(bytes: Buffer): Promise<void>
  /** Closes the file; call it once. Null if the text was not valid base64. */
  end(): Promise<ReceivedFile | null>
}

/** Opens a writer of bytes into a new file at `path`. */
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

/** Opens a writer that decodes base64 or a `data:` URL. It ignores everything after the first invalid character. */
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
