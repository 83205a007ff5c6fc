import type { ReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path/posix'
import type { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { backoffDelay, sleep } from '../lib/async/backoff.js'
import { slices } from '../lib/async/batches.js'
import type { BlobStore } from './blob-store.js'
import { requireKey } from './key.js'
import type { S3Settings } from './settings.js'

const ATTEMPTS = 3
const BACKOFF = { baseMs: 200, maxMs: 2_000, jitter: 0.5 }
const CONNECT_MS = 5_000
const IDLE_MS = 60_000
// Slow readers keep theirs for long.
const MAX_SOCKETS = 200
const BULK_SIZE = 1_000
const SINGLE_SIZE = 20

/**
 * The answers of stores that cannot delete many objects at once, or that want a checksum which the SDK no longer sends.
 */
const LACKS_BULK = [400, 405, 501]

/**
 * Stores blobs in a bucket of an S3-compatible store. Errors name bucket and endpoint but no keys. On AWS it needs
 * s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket (without the last one a missing object is an error).
 */
export function createS3Store(settings: S3Settings): BlobStore {
  const { bucket: Bucket, prefix } = settings
  const client = createClient(settings)
  const objectKey = (key: string) => {
    requireKey(key)
    return prefix === '' ? key : `${prefix}/${key}`
  }

  async function removeMany(keys: readonly string[]): Promise<void> {
    try {
      const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true }
      const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete }))
      const [failure] = Errors.filter(({ Code }) => Code !== 'NoSuchKey')
      if (failure) throw new Error(`an object could not be deleted: ${failure.Code}`)
    } catch (error) {
      if (!LACKS_BULK.includes(statusOf(error) ?? 0)) throw error
      await removeSingly(keys)
    }
  }

  async function removeSingly(keys: readonly string[]): Promise<void> {
    for (const some of slices(keys, SINGLE_SIZE)) {
      await Promise.all(some.map((Key) => client.send(new DeleteObjectCommand({ Bucket, Key })).catch(ignoreMissing)))
    }
  }

  /** The objects below a folder in the order of their keys, page by page, from a little before the key `first` on. */
  async function* pages(folder: string, first?: string): AsyncGenerator<{ key: string; size: number }[]> {
    const Prefix = `${objectKey(folder)}/`
    const StartAfter = first === undefined ? undefined : objectKey(first).slice(0, -1)
    const cut = prefix === '' ? 0 : prefix.length + 1
    let ContinuationToken: string | undefined
    do {
      const command = new ListObjectsV2Command({ Bucket, Prefix, StartAfter, ContinuationToken })
      const answer: ListObjectsV2CommandOutput = await client.send(command).catch((error: unknown) => {
        throw explain(error, settings)
      })
      yield (answer.Contents ?? []).map(({ Key = '', Size = 0 }) => ({ key: Key.slice(cut), size: Size }))
      ContinuationToken = answer.IsTruncated ? answer.NextContinuationToken : undefined
    } while (ContinuationToken !== undefined)
  }

  return {
    put: async (key, path, ContentType) => {
      const Key = objectKey(key)
      // The SDK does not retry streams, so each attempt reads the file again.
      for (let attempt = 1; ; attempt++) {
        const { body: Body, size: ContentLength } = await openSource(path)
        const broken = new AbortController()
        Body.once('error', (error) => broken.abort(error))
        try {
          const command = new PutObjectCommand({ Bucket, Key, Body, ContentLength, ContentType })
          await client.send(command, { abortSignal: broken.signal })
          return
        } catch (error) {
          if (Body.errored) throw Body.errored
          if (attempt === ATTEMPTS || !isTransient(error)) throw explain(error, settings)
        } finally {
          Body.destroy()
        }
        await sleep(backoffDelay(attempt, BACKOFF))
      }
    },
    open: async (key, range) => {
      const Range = range && `bytes=${range.start}-${range.end}`
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: objectKey(key), Range }))
        return Body as Readable
      } catch (error) {
        if (isMissing(error)) return null
        throw explain(error, settings)
      }
    },
    remove: async (keys) => {
      const objectKeys = keys.map(objectKey)
      try {
        for (const some of slices(objectKeys, BULK_SIZE)) await removeMany(some)
      } catch (error) {
        throw explain(error, settings)
      }
    },
    // One request lists a thousand objects, where asking for each would be a thousand requests.
    sizes: async (keys) => {
      const [first] = keys
      const last = keys.at(-1)
      if (first === undefined || last === undefined) return []
      const wanted = new Set(keys)
      const found = new Map<string, number>()
      for await (const page of pages(dirname(first), first)) {
        for (const { key, size } of page) if (wanted.has(key)) found.set(key, size)
        if ((page.at(-1)?.key ?? '') >= last) break
      }
      return keys.map((key) => found.get(key) ?? null)
    },
    list: async function* (folder) {
      for await (const page of pages(folder)) yield page.map(({ key }) => key)
    },
    close: async () => client.destroy(),
  }
}

function createClient({ endpoint, region, accessKey, secretKey }: S3Settings): S3Client {
  const agent = { maxSockets: MAX_SOCKETS }
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKey !== undefined && secretKey !== undefined
      ? { credentials: { accessKeyId: accessKey, secretAccessKey: secretKey } }
      : {}),
    maxAttempts: ATTEMPTS,
    // Many compatible stores do not support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS, httpAgent: agent, httpsAgent: agent },
    // The SDK would log to the console.
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  })
}

async function openSource(path: string): Promise<{ body: ReadStream; size: number }> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    return { body: file.createReadStream(), size }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The status of an answer; undefined if there was none. */
function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
}

function isTransient(error: unknown): boolean {
  const status = statusOf(error) ?? 500
  return status >= 500 || status === 408 || status === 429
}

function isMissing(error: unknown): boolean {
  return (error as Error).name === 'NoSuchKey'
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}

/** Without the cause, whose text may contain the access key, the signed request or the object's key. */
function explain(error: unknown, { bucket, endpoint, region }: S3Settings): Error {
  const status = statusOf(error)
  const { name, message, code } = error as Error & { code?: string }
  const reason = status === undefined ? message || code || name : `${name} (HTTP ${status})`
  return new Error(`The media store s3://${bucket} at ${endpoint ?? `AWS (${region})`} failed: ${reason}`)
}
