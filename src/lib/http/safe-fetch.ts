import type { FileHandle } from 'node:fs/promises'
import { open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { PassThrough, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { sizeText } from '../text/units.js'
import { type AddressGuard, PrivateAddressError } from './address-guard.js'
import { createHttpClient, type HttpClient } from './client.js'
import { NotConnectedError } from './dispatch.js'

export interface DownloadOptions {
  maxBytes: number
  /** For everything: name resolution, connections, redirects, and the last byte. */
  timeoutMs: number
  /** Sent to the origin of the URL only, not after a redirect to another one. Names in lower case. */
  headers?: Record<string, string>
  /** True if the fetcher's trusted origins apply to this URL; only for URLs that no client has provided. */
  trusted?: boolean
}

/**
 * `text` is for users and completes "the file could not be fetched: …"; `status` is that of the failed answer, null if
 * there was none.
 */
export type Downloaded =
  | { outcome: 'downloaded'; size: number }
  | { outcome: 'failed'; reason: DownloadFailure; status: number | null; text: string }

export type DownloadFailure =
  | 'bad_url'
  | 'private_address'
  | 'unreachable'
  | 'status'
  | 'too_many_redirects'
  | 'too_big'
  | 'timeout'
  | 'empty'
  | 'broken'
  | 'encoding'

/** Fetches files from URLs that clients provide. */
export interface Fetcher {
  /**
   * Downloads `url` to a new file at `path` that only this user can read. A file that the server sends compressed is
   * unpacked. A failed download leaves no file. Throws only for local errors: the path exists, the disk is full.
   */
  download(url: string, path: string, options: DownloadOptions): Promise<Downloaded>
  /** Aborts all running downloads. */
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 10_000
const MAX_REDIRECTS = 5
const REDIRECTS = [301, 302, 303, 307, 308]
/** The statuses that come with the whole file; with 203, a proxy has changed it. */
const WITH_FILE = [200, 203]
/** What is sent for a byte of the file. Without a limit, compressed data that unpacks to nothing would never end. */
const MAX_BYTES_SENT = 2

/** How a file is unpacked, by its coding. Stores send compressed uploads compressed, regardless of the request. */
const UNPACKERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/**
 * Creates a fetcher whose connections pass the guard, also after redirects. Only `trusted` requests to one of
 * `trustedOrigins` (such as http://127.0.0.1:9000) skip it, and never after a redirect from elsewhere.
 */
export function createFetcher({
  guard,
  trustedOrigins,
}: {
  guard: AddressGuard
  trustedOrigins: readonly string[]
}): Fetcher {
  // One connection per file: most servers are asked only once, and none keeps a connection of this machine open.
  const connections = { connectTimeoutMs: CONNECT_TIMEOUT_MS, keepAliveMs: 0 }
  const guarded = createHttpClient({ ...connections, guard })
  const trusted = createHttpClient(connections)

  return {
    download: (url, path, options) => download({ guarded, trusted, trustedOrigins }, url, path, options),
    close: async () => {
      guarded.close()
      trusted.close()
    },
  }
}

interface Ways {
  guarded: HttpClient
  trusted: HttpClient
  trustedOrigins: readonly string[]
}

/** Carries a failure to the place where it becomes the outcome. */
class Failed extends Error {
  readonly reason: DownloadFailure
  readonly status: number | null

  constructor(reason: DownloadFailure, status: number | null, text: string) {
    super(text)
    this.reason = reason
    this.status = status
  }
}

async function download(ways: Ways, url: string, path: string, options: DownloadOptions): Promise<Downloaded> {
  const deadline = AbortSignal.timeout(options.timeoutMs)
  try {
    const answer = await follow(ways, url, options, deadline)
    return { outcome: 'downloaded', size: await keep(answer, path, options.maxBytes) }
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    const { reason, status, message } = error
    if (!deadline.aborted) return { outcome: 'failed', reason, status, text: message }
    return { outcome: 'failed', reason: 'timeout', status, text: `it took longer than ${options.timeoutMs / 1_000} s` }
  }
}

/** The first answer that is not a redirect. */
async function follow(
  { guarded, trusted, trustedOrigins }: Ways,
  start: string,
  { headers = {}, trusted: isTrustedUrl = false }: DownloadOptions,
  deadline: AbortSignal,
): Promise<IncomingMessage> {
  let url = parseUrl(start, null, null)
  let isTrusted = isTrustedUrl
  let isFirstOrigin = true
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    isTrusted &&= trustedOrigins.includes(url.origin)
    const answer = await get(isTrusted ? trusted : guarded, url, isFirstOrigin ? headers : {}, deadline)
    const { statusCode = 0 } = answer
    const { location } = answer.headers
    if (!REDIRECTS.includes(statusCode) || location === undefined) return answer
    answer.destroy()
    const target = parseUrl(location, url, statusCode)
    isFirstOrigin &&= target.origin === url.origin
    url = target
  }
  throw new Failed('too_many_redirects', null, `it redirects more than ${MAX_REDIRECTS} times`)
}

function parseUrl(text: string, base: URL | null, status: number | null): URL {
  const what = base ? 'it redirects to a URL that' : 'its URL'
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : null
  if (!url) throw new Failed('bad_url', status, `${what} is not valid`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Failed('bad_url', status, `${what} begins with neither http:// nor https://`)
  }
  if (url.username || url.password) throw new Failed('bad_url', status, `${what} contains a user name or password`)
  return url
}

function get(
  client: HttpClient,
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = {
    origin: url,
    path: url.pathname + url.search,
    method: 'GET',
    headers: { accept: '*/*', 'user-agent': 'parley', ...headers, 'accept-encoding': 'identity' },
  }
  return new Promise((resolve, reject) => {
    const giveUp = client.dispatch(request, { onAnswer: resolve, onFailure: (error) => reject(toFailed(error)) })
    const onAbort = () => giveUp(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}

function toFailed(error: Error): Failed {
  if (!(error instanceof NotConnectedError)) {
    return new Failed('broken', null, 'the server hung up, or what it answered is not HTTP')
  }
  const { code, cause } = error
  if (cause instanceof PrivateAddressError) {
    const text = `its address ${cause.address} is private: files are fetched from public addresses only`
    return new Failed('private_address', null, text)
  }
  if (code === 'ENOTFOUND') return new Failed('unreachable', null, 'its host name has no address')
  if (error.isInsecure) return new Failed('unreachable', null, `no secure connection could be made (${code})`)
  return new Failed('unreachable', null, 'its server could not be reached')
}

/** Writes the answer's body to the new file; returns its size in bytes. */
async function keep(answer: IncomingMessage, path: string, maxBytes: number): Promise<number> {
  let file: FileHandle
  try {
    refuse(answer, maxBytes)
    file = await open(path, 'wx', 0o600)
  } catch (error) {
    answer.destroy()
    throw error
  }
  try {
    return await save(answer, file, maxBytes)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

/** Throws for answers that are refused by their head alone. */
function refuse(answer: IncomingMessage, maxBytes: number): void {
  const { statusCode = 0, headers } = answer
  if (!WITH_FILE.includes(statusCode)) throw new Failed('status', statusCode, `the server answered ${statusCode}`)
  const codings = codingsOf(answer)
  if (codings.length > 1) throw new Failed('encoding', statusCode, 'it is compressed several times')
  if (Number(headers['content-length']) > maxBytesSent(codings, maxBytes)) throw tooBig(statusCode, maxBytes)
}

/** How the body is compressed. Other codings that stores were given (`aws-chunked`, `none`) change no bytes. */
function codingsOf({ headers }: IncomingMessage): string[] {
  const names = headers['content-encoding']?.toLowerCase().split(',') ?? []
  return names.map((name) => name.trim()).filter((name) => Object.hasOwn(UNPACKERS, name))
}

function maxBytesSent(codings: readonly string[], maxBytes: number): number {
  return codings.length === 0 ? maxBytes : maxBytes * MAX_BYTES_SENT
}

async function save(answer: IncomingMessage, file: FileHandle, maxBytes: number): Promise<number> {
  const { statusCode = 0 } = answer
  const codings = codingsOf(answer)
  const [coding] = codings
  const sent = createMeter(maxBytesSent(codings, maxBytes), tooBig(statusCode, maxBytes))
  const kept = createMeter(maxBytes, tooBig(statusCode, maxBytes))
  const unpacker = coding === undefined ? new PassThrough() : (UNPACKERS[coding]?.() as Transform)
  try {
    await pipeline(sent.pass(received(answer)), unpacker, kept.pass, file.createWriteStream())
  } catch (error) {
    // Errors of the disk have a system call, those of the unpacker have none.
    if (coding === undefined || error instanceof Failed || (error as NodeJS.ErrnoException).syscall) throw error
    if (sent.bytes() === 0) throw empty(statusCode)
    throw new Failed('encoding', statusCode, `it is compressed (${coding}) and cannot be unpacked`)
  }
  if (kept.bytes() === 0) throw empty(statusCode)
  return kept.bytes()
}

async function* received(answer: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* answer as AsyncIterable<Buffer>
  } catch {
    throw new Failed('broken', answer.statusCode ?? 0, 'the connection broke before its end')
  }
}

/** Counts what passes, and fails with `tooMany` at the first byte that is too many. */
function createMeter(max: number, tooMany: Failed) {
  let size = 0
  return {
    bytes: () => size,
    pass: async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        size += chunk.length
        if (size > max) throw tooMany
        yield chunk
      }
    },
  }
}

function empty(status: number): Failed {
  return new Failed('empty', status, 'it is empty')
}

function tooBig(status: number, maxBytes: number): Failed {
  const limit = maxBytes % 1_024 === 0 ? `${sizeText(maxBytes)} (${maxBytes} bytes)` : `${maxBytes} bytes`
  return new Failed('too_big', status, `it is larger than ${limit}`)
}
