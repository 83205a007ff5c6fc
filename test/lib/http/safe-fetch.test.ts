import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAddressGuard } from '../../../src/lib/http/address-guard.js'
import { createFetcher, type Downloaded, type DownloadOptions, type Fetcher } from '../../../src/lib/http/safe-fetch.js'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const MEGABYTE = 1_048_576

let folder: string
let path: string
/** Two origins on this machine. */
let origin: string
let other: string
let server: Server
let otherServer: Server
let handlers: Record<string, Handler>
let seen: { url: string; headers: IncomingMessage['headers'] }[]
let fetcher: Fetcher

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-fetch-'))
  path = join(folder, 'file')
  server = await listen()
  otherServer = await listen()
  origin = originOf(server)
  other = originOf(otherServer)
})

beforeEach(() => {
  handlers = {}
  seen = []
  fetcher = createFetcher({ guard: createAddressGuard(['127.0.0.0/8']), trustedOrigins: [] })
})

afterEach(async () => {
  await fetcher.close()
  await rm(path, { force: true })
  expect(await readdir(folder)).toEqual([])
})

afterAll(async () => {
  for (const each of [server, otherServer]) {
    each.closeAllConnections()
    each.close()
  }
  await rm(folder, { recursive: true })
})

async function listen(): Promise<Server> {
  const created = createServer((request, response) => {
    seen.push({ url: `http://${request.headers.host}${request.url}`, headers: request.headers })
    const handler = handlers[request.url ?? '']
    if (handler) handler(request, response)
    else response.writeHead(404).end('not here')
  }).listen(0, '127.0.0.1')
  await once(created, 'listening')
  return created
}

function originOf(listening: Server): string {
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

function download(url: string, options: Partial<DownloadOptions> = {}, by = fetcher): Promise<Downloaded> {
  return by.download(url, path, { maxBytes: MEGABYTE, timeoutMs: 20_000, ...options })
}

/** The reason and text of a download, which must fail and leave no file. */
async function failure(url: string, options: Partial<DownloadOptions> = {}, by = fetcher) {
  const result = await download(url, options, by)
  expect(existsSync(path)).toBe(false)
  if (result.outcome !== 'failed') throw new Error(`it did not fail: ${JSON.stringify(result)}`)
  return result
}

const redirectTo =
  (location: string, status = 302): Handler =>
  (_, response) =>
    response.writeHead(status, { location }).end('moved')

describe('a download', () => {
  it('writes the body to a new file for this user only', async () => {
    handlers['/a?b=c%20d'] = (_, response) => response.end('hello')
    expect(await download(`${origin}/a?b=c%20d#part`)).toEqual({ outcome: 'downloaded', size: 5 })
    expect(await readFile(path, 'utf8')).toBe('hello')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('sends a user agent, asks for no compression, and sends the given headers', async () => {
    handlers['/'] = (_, response) => response.end('x')
    await download(origin, { headers: { authorization: 'Bearer secret' } })
    const expected = { 'user-agent': 'parley', 'accept-encoding': 'identity', authorization: 'Bearer secret' }
    expect(seen[0]?.headers).toMatchObject(expected)
  })

  it('accepts a file of exactly the limit, with and without Content-Length', async () => {
    const body = Buffer.alloc(100_000, 'x')
    handlers['/length'] = (_, response) => response.end(body)
    handlers['/chunks'] = (_, response) => response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(body)
    for (const name of ['length', 'chunks']) {
      expect(await download(`${origin}/${name}`, { maxBytes: 100_000 })).toEqual({
        outcome: 'downloaded',
        size: 100_000,
      })
      await rm(path)
    }
  })

  it('never overwrites a file', async () => {
    handlers['/'] = (_, response) => response.end('new')
    await writeFile(path, 'old')
    await expect(download(origin)).rejects.toThrow('EEXIST')
    expect(await readFile(path, 'utf8')).toBe('old')
  })

  it('does not keep a large body in memory', async () => {
    // Large compared with the garbage that V8 has not collected yet.
    const size = 300 * MEGABYTE
    const chunk = Buffer.alloc(65_536, 'x')
    handlers['/'] = (_, response) => {
      let left = size / chunk.length
      const send = () => {
        while (left-- > 0) if (!response.write(chunk)) return response.once('drain', send)
        response.end()
      }
      send()
    }
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const running = download(origin, { maxBytes: size })
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers)
    }, 1)
    expect(await running).toEqual({ outcome: 'downloaded', size })
    clearInterval(watch)
    expect(most - before).toBeLessThan(size / 2)
  })
})

describe('a file that is stored compressed', () => {
  const sendAs =
    (coding: string, body: Buffer | string): Handler =>
    (_, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(body)

  it.each([
    ['gzip', gzipSync('hello')],
    ['GZip', gzipSync('hello')],
    ['x-gzip', gzipSync('hello')],
    ['deflate', deflateSync('hello')],
    ['br', brotliCompressSync('hello')],
    ['aws-chunked,gzip', gzipSync('hello')],
    ['gzip, identity', gzipSync('hello')],
  ])('as %s is unpacked', async (coding, body) => {
    handlers['/'] = sendAs(coding, body)
    expect(await download(origin)).toEqual({ outcome: 'downloaded', size: 5 })
    expect(await readFile(path, 'utf8')).toBe('hello')
  })

  it.each(['aws-chunked', 'none', 'UTF8', 'utf-8', 'identity', 'binary', 'x', '', ',', 'constructor'])(
    'is taken as it is if it claims to be "%s"',
    async (coding) => {
      handlers['/'] = sendAs(coding, 'hello')
      expect(await download(origin)).toEqual({ outcome: 'downloaded', size: 5 })
      expect(await readFile(path, 'utf8')).toBe('hello')
    },
  )

  it('may have exactly the limit when it is unpacked, although more is sent', async () => {
    const body = randomBytes(100_000)
    handlers['/'] = sendAs('gzip', gzipSync(body))
    expect(gzipSync(body).length).toBeGreaterThan(100_000)
    expect(await download(origin, { maxBytes: 100_000 })).toEqual({ outcome: 'downloaded', size: 100_000 })
    expect((await readFile(path)).equals(body)).toBe(true)
    await rm(path)
    expect(await failure(origin, { maxBytes: 99_999 })).toMatchObject({ reason: 'too_big', status: 200 })
  })

  it.each([
    ['gzip', gzipSync(Buffer.alloc(50 * MEGABYTE))],
    ['deflate', deflateSync(Buffer.alloc(50 * MEGABYTE))],
    ['br', brotliCompressSync(Buffer.alloc(50 * MEGABYTE))],
  ])('ends at the limit if it is a bomb of %s', async (coding, body) => {
    handlers['/'] = sendAs(coding, body)
    expect(await failure(origin)).toMatchObject({ reason: 'too_big', text: 'it is larger than 1 MB (1048576 bytes)' })
  })

  it('ends if it never unpacks to anything', async () => {
    // Stored blocks without content, after the head of gzip.
    const nothing = Buffer.alloc(65_535).fill(Buffer.of(0, 0, 0, 0xff, 0xff))
    handlers['/'] = (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync('').subarray(0, 10))
      const send = () => {
        while (response.write(nothing)) if (response.destroyed) return
        response.once('drain', send)
      }
      send()
    }
    expect(await failure(origin)).toMatchObject({ reason: 'too_big', status: 200 })
  })

  it.each([
    ['is none', 'hello, hello', 'it is compressed (gzip) and cannot be unpacked'],
    ['is cut off', gzipSync('hello').subarray(0, 15), 'it is compressed (gzip) and cannot be unpacked'],
  ])('is refused if it %s', async (_, body, text) => {
    handlers['/'] = sendAs('gzip', body)
    expect(await failure(origin)).toMatchObject({ reason: 'encoding', status: 200, text })
  })

  it('is refused if it is compressed several times, or empty', async () => {
    handlers['/twice'] = sendAs('gzip, br', brotliCompressSync(gzipSync('hello')))
    handlers['/nothing'] = sendAs('gzip', '')
    handlers['/packed-nothing'] = sendAs('gzip', gzipSync(''))
    const text = 'it is compressed several times'
    expect(await failure(`${origin}/twice`)).toMatchObject({ reason: 'encoding', text })
    expect(await failure(`${origin}/nothing`)).toMatchObject({ reason: 'empty' })
    expect(await failure(`${origin}/packed-nothing`)).toMatchObject({ reason: 'empty' })
  })

  it('is broken if the connection breaks', async () => {
    handlers['/'] = (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.write(gzipSync('hello').subarray(0, 12), () => response.destroy())
    }
    expect(await failure(origin)).toMatchObject({ reason: 'broken', text: 'the connection broke before its end' })
  })
})

describe('the status 203', () => {
  it('comes with a file too', async () => {
    handlers['/'] = (_, response) => response.writeHead(203).end('hello')
    expect(await download(origin)).toEqual({ outcome: 'downloaded', size: 5 })
  })
})

describe('invalid URLs', () => {
  it.each([
    ['', 'its URL is not valid'],
    ['not a url', 'its URL is not valid'],
    ['http://', 'its URL is not valid'],
    ['http://[fe80::1%25eth0]/', 'its URL is not valid'],
    ['ftp://files.test/a', 'its URL begins with neither http:// nor https://'],
    ['file:///etc/passwd', 'its URL begins with neither http:// nor https://'],
    ['data:text/plain,hello', 'its URL begins with neither http:// nor https://'],
    ['http://user@files.test/', 'its URL contains a user name or password'],
    ['http://:secret@files.test/', 'its URL contains a user name or password'],
  ])('such as %j are refused', async (url, text) => {
    expect(await failure(url)).toEqual({ outcome: 'failed', reason: 'bad_url', status: null, text })
  })
})

describe('a download refuses answers that', () => {
  it.each([404, 500, 403, 204, 206, 304, 300])('have a status other than 200, such as %i', async (status) => {
    handlers['/'] = (_, response) => response.writeHead(status).end()
    expect(await failure(origin)).toMatchObject({ reason: 'status', status, text: `the server answered ${status}` })
  })

  it('redirect to an invalid URL', async () => {
    handlers['/'] = (_, response) => response.writeHead(302).end()
    expect(await failure(origin)).toMatchObject({ reason: 'status', status: 302, text: 'the server answered 302' })
  })

  it('announce too many bytes', async () => {
    // The body never arrives; the announced length is enough.
    handlers['/'] = (_, response) => response.writeHead(200, { 'content-length': 5 * MEGABYTE + 1 }).flushHeaders()
    const text = 'it is larger than 5 MB (5242880 bytes)'
    expect(await failure(origin, { maxBytes: 5 * MEGABYTE })).toMatchObject({ reason: 'too_big', status: 200, text })
  })

  it('contain too many bytes, even without an end', async () => {
    handlers['/'] = (_, response) => {
      const send = () => {
        while (!response.destroyed) if (!response.write('x'.repeat(1_000))) return response.once('drain', send)
      }
      send()
    }
    const expected = { reason: 'too_big', text: 'it is larger than 100000 bytes' }
    expect(await failure(origin, { maxBytes: 100_000 })).toMatchObject(expected)
  })

  it('are empty', async () => {
    handlers['/'] = (_, response) => response.end()
    expect(await failure(origin)).toMatchObject({ reason: 'empty', status: 200, text: 'it is empty' })
  })

  it('contain fewer bytes than announced', async () => {
    handlers['/'] = (_, response) => {
      response.writeHead(200, { 'content-length': 1_000 })
      response.write('x', () => response.destroy())
    }
    const text = 'the connection broke before its end'
    expect(await failure(origin)).toMatchObject({ reason: 'broken', status: 200, text })
  })

  it('break off within a chunk', async () => {
    handlers['/'] = (_, response) => void response.write('x', () => response.destroy())
    expect(await failure(origin)).toMatchObject({ reason: 'broken', status: 200 })
  })

  it('break off before the headers', async () => {
    handlers['/'] = (request) => void request.socket.destroy()
    expect(await failure(origin)).toMatchObject({ reason: 'broken', status: null })
  })

  it('are not HTTP', async () => {
    const tcp = createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH\r\n')).listen(
      0,
      '127.0.0.1',
    )
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    expect(await failure(`http://127.0.0.1:${port}/`)).toMatchObject({ reason: 'broken', status: null })
    expect(await failure(`https://127.0.0.1:${port}/`)).toMatchObject({ reason: 'unreachable', status: null })
    tcp.close()
  })

  it('do not arrive', async () => {
    const closed = await listen()
    const url = originOf(closed)
    closed.close()
    await once(closed, 'close')
    const text = 'its server could not be reached'
    expect(await failure(url)).toEqual({ outcome: 'failed', reason: 'unreachable', status: null, text })
  })
})

describe('the deadline of a download', () => {
  const timeoutMs = 200
  const expected = { reason: 'timeout', text: 'it took longer than 0.2 s' }

  it('ends the wait for an answer', async () => {
    handlers['/'] = () => {}
    expect(await failure(origin, { timeoutMs })).toMatchObject({ ...expected, status: null })
  })

  it('ends a slow body', async () => {
    handlers['/'] = (_, response) => {
      const drip = setInterval(() => response.write('x'), 10)
      response.on('close', () => clearInterval(drip))
    }
    const text = 'it took longer than 1 s'
    expect(await failure(origin, { timeoutMs: 1_000 })).toMatchObject({ reason: 'timeout', status: 200, text })
  })

  it('ends a series of redirects, each of which is fast', async () => {
    handlers['/'] = (_, response) => void setTimeout(() => redirectTo('/')(_, response), 60)
    expect(await failure(origin, { timeoutMs })).toMatchObject({ reason: 'timeout' })
  })

  it('ends a name resolution without answer', async () => {
    let answer = () => {}
    const lookup: LookupFunction = (_host, _options, callback) => {
      answer = () => callback(new Error('too late'), [])
    }
    const slow = createFetcher({ guard: createAddressGuard([], lookup), trustedOrigins: [] })
    expect(await failure('http://slow.test/', { timeoutMs }, slow)).toMatchObject({ ...expected, status: null })
    answer()
    await slow.close()
  })
})

describe('redirects', () => {
  it.each([301, 302, 303, 307, 308])('with %i are followed, also relative ones', async (status) => {
    handlers['/a/b'] = redirectTo('../c?d', status)
    handlers['/c?d'] = (_, response) => response.end('here')
    expect(await download(`${origin}/a/b`)).toEqual({ outcome: 'downloaded', size: 4 })
  })

  it('are followed five times', async () => {
    for (let i = 0; i < 6; i++) handlers[`/${i}`] = redirectTo(`/${i + 1}`)
    handlers['/6'] = (_, response) => response.end('here')
    expect(await failure(`${origin}/0`)).toMatchObject({
      reason: 'too_many_redirects',
      text: 'it redirects more than 5 times',
    })
    expect(seen).toHaveLength(6)
    expect(await download(`${origin}/1`)).toMatchObject({ outcome: 'downloaded' })
  })

  it('in a circle are refused', async () => {
    handlers['/'] = redirectTo('/')
    expect(await failure(origin)).toMatchObject({ reason: 'too_many_redirects' })
  })

  it('with an endless body are followed without delay', async () => {
    handlers['/'] = (_, response) => void response.writeHead(302, { location: '/next' }).write('endless')
    handlers['/next'] = (_, response) => response.end('here')
    expect(await download(origin)).toMatchObject({ outcome: 'downloaded' })
  })

  it.each([
    ['http://169.254.169.254/latest/meta-data/', 'its address 169.254.169.254 is private: files are'],
    ['http://2852039166/', 'its address 169.254.169.254 is private: files are'],
    ['https://[::ffff:10.0.0.1]/', 'its address ::ffff:a00:1 is private: files are'],
  ])('to %s are refused', async (location, text) => {
    handlers['/'] = redirectTo(location)
    const expected = { reason: 'private_address', status: null, text: expect.stringContaining(text) }
    expect(await failure(origin)).toMatchObject(expected)
  })

  it.each([
    ['ftp://files.test/', 'it redirects to a URL that begins with neither http:// nor https://'],
    ['file:///etc/passwd', 'it redirects to a URL that begins with neither http:// nor https://'],
    ['http://user:secret@127.0.0.1/', 'it redirects to a URL that contains a user name or password'],
    ['http://[', 'it redirects to a URL that is not valid'],
  ])('to %s are refused', async (location, text) => {
    handlers['/'] = redirectTo(location)
    expect(await failure(origin)).toMatchObject({ reason: 'bad_url', status: 302, text })
  })

  it('keep the headers within the origin, and drop them elsewhere, even on the way back', async () => {
    handlers['/'] = redirectTo('/same')
    handlers['/same'] = redirectTo(`${other}/away`)
    handlers['/away'] = redirectTo(`${origin}/back`)
    handlers['/back'] = redirectTo('/end')
    handlers['/end'] = (_, response) => response.end('x')
    await download(origin, { headers: { authorization: 'Bearer secret', 'x-key': 'secret' } })
    expect(seen.map(({ headers }) => [headers.authorization, headers['x-key']])).toEqual([
      ['Bearer secret', 'secret'],
      ['Bearer secret', 'secret'],
      [undefined, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ])
  })
})

describe('addresses of a download', () => {
  const strict = (trustedOrigins: string[] = [], lookup?: LookupFunction) =>
    createFetcher({ guard: createAddressGuard([], lookup), trustedOrigins })

  it('that are private are refused before anything is sent', async () => {
    const guarded = strict()
    const { port } = new URL(origin)
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost']) {
      expect(await failure(`http://${host}:${port}/`, {}, guarded)).toMatchObject({ reason: 'private_address' })
    }
    expect(seen).toEqual([])
    await guarded.close()
  })

  it('are checked for each connection, even if the name resolved to others before', async () => {
    const turns = ['127.0.0.1', '127.0.0.2']
    const lookup: LookupFunction = (_host, _options, callback) => {
      callback(null, [{ address: turns.shift() ?? '', family: 4 }])
    }
    const rebinding = createFetcher({ guard: createAddressGuard(['127.0.0.1'], lookup), trustedOrigins: [] })
    const { port } = new URL(origin)
    handlers['/'] = (_, response) => response.writeHead(302, { location: '/next', connection: 'close' }).end()
    handlers['/next'] = (_, response) => response.end('inside')
    const expected = { reason: 'private_address', text: expect.stringContaining('127.0.0.2') }
    expect(await failure(`http://rebinding.test:${port}/`, {}, rebinding)).toMatchObject(expected)
    expect(seen).toHaveLength(1)
    await rebinding.close()
  })

  it('of unknown names are reported', async () => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), [])
    const lost = strict([], lookup)
    const text = 'its host name has no address'
    expect(await failure('http://none.test/', {}, lost)).toMatchObject({ reason: 'unreachable', text })
    await lost.close()
  })

  it('are not checked for trusted origins only', async () => {
    const trusting = strict([origin])
    handlers['/'] = (_, response) => response.end('inside')
    expect(await download(origin, { trusted: true }, trusting)).toMatchObject({ outcome: 'downloaded' })
    await rm(path)
    expect(await failure(origin, {}, trusting)).toMatchObject({ reason: 'private_address' })
    expect(await failure(other, { trusted: true }, trusting)).toMatchObject({ reason: 'private_address' })
    handlers['/away'] = redirectTo(other)
    const away = await failure(`${origin}/away`, { trusted: true }, trusting)
    expect(away).toMatchObject({ reason: 'private_address' })
    await trusting.close()
  })

  it('are checked for trusted origins after a redirect from elsewhere', async () => {
    const lookup: LookupFunction = (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])
    const guard = createAddressGuard(['stranger.test'], lookup)
    const visiting = createFetcher({ guard, trustedOrigins: [origin] })
    handlers['/in'] = redirectTo(`${origin}/secret`)
    handlers['/secret'] = (_, response) => response.end('inside')
    const { port } = new URL(other)
    const result = await failure(`http://stranger.test:${port}/in`, { trusted: true }, visiting)
    expect(result).toMatchObject({ reason: 'private_address' })
    expect(seen.map(({ url }) => url)).toEqual([`http://stranger.test:${port}/in`])
    await visiting.close()
  })
})
