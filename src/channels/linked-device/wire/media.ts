import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Downloaded, DownloadFailure } from '../../../lib/http/safe-fetch.js'
import { asText, type JsonObject } from '../../../lib/text/json.js'
import { codeOf } from '../connection/close-reason.js'
import type { EncryptedFile, LinkedLibrary } from '../library.js'
import { fileOfMessage, type NetworkFile } from './network-message.js'

/**
 * Downloads and decrypts the file of a message (the network's JSON) to a new file at `path` that only this user can
 * read. A failed download leaves no file. Throws only for local errors: the path exists, the disk is full.
 */
export async function downloadDeviceFile(
  library: LinkedLibrary,
  message: JsonObject,
  path: string,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): Promise<Downloaded> {
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const file = fileOfMessage(message)
    const source = file === null ? null : readSource(file)
    if (file === null || source === null) throw new Failed('bad_url', null, 'the message does not say where it is')
    const stream = await begin(library, source, file, deadline)
    return { outcome: 'downloaded', size: await keep(stream, file, path, { maxBytes, deadline }) }
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    const { reason, status, message: text } = error
    if (!deadline.aborted) return { outcome: 'failed', reason, status, text }
    return { outcome: 'failed', reason: 'timeout', status, text: `it took longer than ${timeoutMs / 1_000} s` }
  }
}

const FILE_HOST = 'https://mmg.whatsapp.net/'

/** The sender wrote the address, so it must be one of the network's servers. Null if there is no such address. */
function readSource({ fields }: NetworkFile): EncryptedFile | null {
  const mediaKey = asText(fields.mediaKey)
  const url = asText(fields.url)
  const directPath = asText(fields.directPath)
  const where = {
    ...(url?.startsWith(FILE_HOST) ? { url } : {}),
    ...(directPath !== null && /^\/[\w-]/.test(directPath) ? { directPath } : {}),
  }
  if (mediaKey === null || Object.keys(where).length === 0) return null
  return { mediaKey: Buffer.from(mediaKey, 'base64'), ...where }
}

async function begin(
  library: LinkedLibrary,
  source: EncryptedFile,
  { cipher }: NetworkFile,
  deadline: AbortSignal,
): Promise<Readable> {
  const begun = library.downloadContentFromMessage(source, cipher, { options: { signal: deadline } })
  // The library may ignore the deadline.
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener('abort', () => reject(deadline.reason), { once: true })
  })
  try {
    return await Promise.race([begun, late])
  } catch (error) {
    begun.then((stream) => stream.destroy()).catch(() => undefined)
    const status = codeOf(error)
    if (status === null) throw new Failed('unreachable', null, 'the server of the file could not be reached')
    throw new Failed('status', status, `the server answered ${status}`)
  }
}

interface DownloadLimits {
  maxBytes: number
  /** Aborted when the time is up. */
  deadline: AbortSignal
}

async function keep(stream: Readable, file: NetworkFile, path: string, limits: DownloadLimits): Promise<number> {
  let handle: FileHandle
  try {
    handle = await open(path, 'wx', 0o600)
  } catch (error) {
    stream.on('error', () => undefined).destroy()
    throw error
  }
  try {
    return await save(stream, handle, asText(file.fields.fileSha256), limits)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

async function save(
  stream: Readable,
  handle: FileHandle,
  expected: string | null,
  { maxBytes, deadline }: DownloadLimits,
): Promise<number> {
  const hash = createHash('sha256')
  let size = 0
  const abort = () => stream.destroy(new Error('too late'))
  deadline.addEventListener('abort', abort, { once: true })
  try {
    await pipeline(async function* () {
      for await (const chunk of chunksOf(stream)) {
        size += chunk.length
        if (size > maxBytes) throw new Failed('too_big', null, `it is larger than ${maxBytes} bytes`)
        hash.update(chunk)
        yield chunk
      }
    }, handle.createWriteStream())
  } finally {
    deadline.removeEventListener('abort', abort)
  }
  if (size === 0) throw new Failed('empty', null, 'it is empty')
  if (expected !== null && hash.digest('base64') !== expected) {
    throw new Failed('broken', null, 'what came is not what the message says')
  }
  return size
}

async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer
  } catch {
    throw new Failed('broken', null, 'the connection broke before its end')
  }
}

class Failed extends Error {
  readonly reason: DownloadFailure
  readonly status: number | null

  constructor(reason: DownloadFailure, status: number | null, message: string) {
    super(message)
    this.reason = reason
    this.status = status
  }
}
