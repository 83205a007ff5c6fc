import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openBlobStore } from '../../src/blobs/open.js'
import { createS3Store } from '../../src/blobs/s3.js'
import { type S3Server, startS3Server } from '../support/s3-server.js'
import { describeBlobStore } from './conformance.js'

let server: S3Server
let folder: string
let path: string

beforeAll(async () => {
  server = await startS3Server()
  folder = await mkdtemp(join(tmpdir(), 'parley-s3-test-'))
  path = join(folder, 'file')
  await writeFile(path, 'some bytes')
})

afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

describeBlobStore('an S3 bucket', () => createS3Store(server.settings))

type Handler = (request: IncomingMessage, response: ServerResponse) => boolean

/** A proxy in front of the real server that answers some requests itself. */
async function inFront(handler: Handler): Promise<{ settings: S3Server['settings']; close(): void }> {
  const target = new URL(server.settings.endpoint ?? '')
  const front: Server = createServer((incoming, response) => {
    if (handler(incoming, response)) return
    const { method, headers, url } = incoming
    const onward = request({ host: target.hostname, port: target.port, method, headers, path: url }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    incoming.pipe(onward)
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  const address = front.address()
  const port = typeof address === 'object' ? address?.port : address
  return {
    settings: { ...server.settings, endpoint: `http://127.0.0.1:${port}` },
    close: () => {
      front.closeAllConnections()
      front.close()
    },
  }
}

/** Answers after reading the whole body: an earlier answer may be lost when the connection closes. */
function refuse(response: ServerResponse, status: number, code: string): true {
  response.req.resume().once('end', () => {
    response.writeHead(status, { 'content-type': 'application/xml' })
    response.end(`<Error><Code>${code}</Code><Message>no some/prefix/org/x S3RVER</Message></Error>`)
  })
  return true
}

describe('a bucket that fails', () => {
  it.each([503, 500])('is retried after %i, with the file from its beginning', async (status) => {
    let refusals = 2
    const front = await inFront(({ method }, response) => {
      return method === 'PUT' && refusals-- > 0 && refuse(response, status, 'SlowDown')
    })
    const store = createS3Store(front.settings)
    await store.put('org/again', path, 'image/png')
    const stream = await store.open('org/again')
    expect(stream && String(await buffer(stream))).toBe('some bytes')
    await store.close()
    front.close()
  })

  it('is named in the error after three attempts, without any key', async () => {
    let requests = 0
    const front = await inFront((_request, response) => {
      requests++
      return refuse(response, 503, 'SlowDown')
    })
    const store = createS3Store(front.settings)
    const expected = `The media store s3://media at ${front.settings.endpoint} failed: SlowDown (HTTP 503)`
    await expect(store.put('org/x', path, 'image/png')).rejects.toThrow(expected)
    expect(requests).toBe(3)
    await expect(store.open('org/x')).rejects.toThrow(expected)
    await expect(store.remove(['org/x'])).rejects.toThrow(expected)
    await store.close()
    front.close()
  })

  it('is not retried after a refusal', async () => {
    const denied = createS3Store({ ...server.settings, accessKey: 'nobody' })
    await expect(denied.put('org/x', path, 'image/png')).rejects.toThrow(/failed: InvalidAccessKeyId \(HTTP 403\)$/)
    await denied.close()
    const nowhere = createS3Store({ ...server.settings, bucket: 'nobody' })
    await expect(nowhere.open('org/x')).rejects.toThrow(/s3:\/\/nobody .* failed: NoSuchBucket \(HTTP 404\)$/)
    await nowhere.close()
  })
})

describe('a store without bulk delete', () => {
  it.each([
    [501, 'NotImplemented'],
    [400, 'MissingContentMD5'],
  ])('receives one request per file after it answers %i %s', async (status, code) => {
    const front = await inFront(({ method }, response) => method === 'POST' && refuse(response, status, code))
    const store = createS3Store(front.settings)
    const keys = Array.from({ length: 30 }, (_, index) => `single/${index}`)
    await Promise.all(keys.map((key) => store.put(key, path, 'image/png')))
    await store.remove([...keys, 'single/never'])
    const left = await Promise.all(keys.map((key) => store.open(key)))
    expect(left).toEqual(keys.map(() => null))
    await store.close()
    front.close()
  })
})

describe('opening the store', () => {
  it('logs nothing if the bucket can be read', async () => {
    let answers = 0
    const front = await inFront((_request, response) => {
      response.once('finish', () => answers++)
      return false
    })
    const warn = vi.fn()
    const store = await openBlobStore({ kind: 's3', ...front.settings }, folder, warn)
    await expect.poll(() => answers).toBe(1)
    expect(await store.open('org/none')).toBeNull()
    expect(warn).not.toHaveBeenCalled()
    await store.close()
    front.close()
  })

  it('logs one line if the bucket cannot be read, and opens it anyway', async () => {
    const warn = vi.fn()
    const settings = { ...server.settings, endpoint: 'http://127.0.0.1:1' }
    const store = await openBlobStore({ kind: 's3', ...settings }, folder, warn)
    await expect
      .poll(() => warn.mock.calls)
      .toEqual([['The media store s3://media at http://127.0.0.1:1 failed: connect ECONNREFUSED 127.0.0.1:1']])
    await store.close()
  })

  it('keeps files in the data folder if no bucket is set', async () => {
    const store = await openBlobStore({ kind: 'files' }, folder, () => undefined)
    await store.put('org/x', path, 'image/png')
    const kept = await openBlobStore({ kind: 'files' }, folder, () => undefined)
    const stream = await kept.open('org/x')
    expect(stream && String(await buffer(stream))).toBe('some bytes')
  })
})
