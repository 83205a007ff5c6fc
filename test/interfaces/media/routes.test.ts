import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createMediaLinks } from '../../../src/core/media/links.js'
import { blobKey, mediaExpiry } from '../../../src/model/messages/media.js'
import { insertMedia } from '../../../src/storage/messages/media.js'
import { readRaw, sendRaw } from '../../support/raw.js'
import { useOrganization, useWorld } from '../../support/world.js'

const YEAR_SECONDS = 31_536_000

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-media-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const world = useWorld(() => ({ PARLEY_DATA_DIR: join(folder, 'data') }))
const organization = useOrganization(world)
const other = useOrganization(world)

interface Stored {
  id: string
  /** Path and query below the service's address. */
  path: string
}

function linkTo(id: string, owner = organization): string {
  const url = world.app.ctx.mediaLinks.urlOf(owner.id, id, mediaExpiry(world.now()))
  expect(url.startsWith(`${world.app.url}/media/`)).toBe(true)
  return url.slice(world.app.url.length)
}

async function store(bytes: Buffer | string, mimeType = 'image/png', filename: string | null = null): Promise<Stored> {
  const id = randomUUID()
  const file = join(folder, id)
  await writeFile(file, bytes)
  await insertMedia(world.database, organization.id, {
    id,
    mimeType,
    size: Buffer.byteLength(bytes),
    filename,
    messageId: null,
  })
  await world.app.ctx.blobs.put(blobKey(organization.id, id), file, mimeType)
  await rm(file)
  return { id, path: linkTo(id) }
}

function fetchPath(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(`${world.app.url}${path}`, { method, headers })
}

describe('GET /media, 200', () => {
  it('returns the bytes without a key, with headers that allow caching but not execution', async () => {
    const { id, path } = await store('0123456789')
    const answer = await fetchPath(path)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('0123456789')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '10',
      'accept-ranges': 'bytes',
      etag: `"${id}"`,
      'last-modified': expect.stringMatching(/^\w{3}, .* GMT$/),
      'cache-control': 'private, max-age=31536000, immutable',
      'content-disposition': `inline; filename="${id}.png"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'referrer-policy': 'no-referrer',
    })
  })

  it.each([
    ['image/jpeg', 'image/jpeg', 'inline', 'jpg'],
    ['image/webp', 'image/webp', 'inline', 'webp'],
    ['video/mp4', 'video/mp4', 'inline', 'mp4'],
    ['video/3gpp', 'video/3gpp', 'inline', '3gp'],
    ['audio/ogg; codecs=opus', 'audio/ogg', 'inline', 'ogg'],
    ['audio/x-whatever', 'audio/x-whatever', 'inline', 'bin'],
    ['application/pdf', 'application/pdf', 'inline', 'pdf'],
    ['application/msword', 'application/msword', 'attachment', 'doc'],
    ['text/html', 'application/octet-stream', 'attachment', 'bin'],
    ['image/svg+xml', 'application/octet-stream', 'attachment', 'bin'],
    ['application/xhtml+xml', 'application/octet-stream', 'attachment', 'bin'],
    ['text/html;audio/ogg', 'application/octet-stream', 'attachment', 'bin'],
    ['audio/ogg\r\nx-evil: 1', 'application/octet-stream', 'attachment', 'bin'],
    ['constructor', 'application/octet-stream', 'attachment', 'bin'],
    ['', 'application/octet-stream', 'attachment', 'bin'],
  ])('serves %j as %s', async (stored, type, disposition, extension) => {
    const { id, path } = await store('<script>', stored)
    const answer = await fetchPath(path)
    expect(await answer.text()).toBe('<script>')
    expect(answer.headers.get('content-type')).toBe(type)
    expect(answer.headers.get('content-disposition')).toBe(`${disposition}; filename="${id}.${extension}"`)
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  })

  it.each([
    ['Offer.pdf', 'inline; filename="Offer.pdf"'],
    ['Relatório.pdf', `inline; filename="Relatorio.pdf"; filename*=UTF-8''Relat%C3%B3rio.pdf`],
    ['Cotação €.pdf', `inline; filename="Cotacao .pdf"; filename*=UTF-8''Cota%C3%A7%C3%A3o%20%E2%82%AC.pdf`],
    ['a"b\r\nx-evil: 1.pdf', `inline; filename="a\\"bx-evil: 1.pdf"; filename*=UTF-8''a%22b%0D%0Ax-evil%3A%201.pdf`],
    ['../../etc/passwd', 'inline; filename="passwd"'],
  ])('names the file %j', async (filename, disposition) => {
    const { path } = await store('x', 'application/pdf', filename)
    const answer = await fetchPath(path)
    await answer.arrayBuffer()
    expect(Buffer.from(answer.headers.get('content-disposition') ?? '', 'latin1').toString('latin1')).toBe(disposition)
    expect(answer.headers.get('x-evil')).toBeNull()
  })

  it('returns an empty file', async () => {
    const { path } = await store('')
    const answer = await fetchPath(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-length')).toBe('0')
    expect(await answer.text()).toBe('')
    expect((await fetchPath(path, {}, 'HEAD')).status).toBe(200)
  })

  it('responds to HEAD with the same headers and no bytes', async () => {
    const { path } = await store('0123456789', 'video/mp4')
    const whole = await fetchPath(path)
    await whole.arrayBuffer()
    const head = await fetchPath(path, { range: 'bytes=0-1' }, 'HEAD')
    expect(head.status).toBe(200)
    expect(await head.text()).toBe('')
    const ofTheMoment = ['date', 'connection', 'keep-alive', 'x-request-id']
    const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => !ofTheMoment.includes(name))
    expect(headersOf(head)).toEqual(headersOf(whole))
  })

  it('refuses other methods', async () => {
    const { path } = await store('x')
    const answer = await fetchPath(path, {}, 'DELETE')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD')
  })

  it('is not in the OpenAPI document', async () => {
    const { body } = await world.request('GET', '/openapi.json')
    expect(Object.keys(body.paths).filter((path) => path.startsWith('/media/'))).toEqual([])
  })
})

describe('ranges', () => {
  let media: Stored

  beforeAll(async () => {
    media = await store('0123456789', 'video/mp4')
  })

  it.each([
    ['bytes=0-0', '0', '0-0'],
    ['bytes=3-5', '345', '3-5'],
    ['bytes=9-9', '9', '9-9'],
    ['bytes=4-', '456789', '4-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=0-', '0123456789', '0-9'],
    ['bytes=8-1000', '89', '8-9'],
  ])('returns a part for %s', async (range, expected, shown) => {
    const answer = await fetchPath(media.path, { range })
    expect(answer.status).toBe(206)
    expect(await answer.text()).toBe(expected)
    expect(answer.headers.get('content-range')).toBe(`bytes ${shown}/10`)
    expect(answer.headers.get('content-length')).toBe(String(expected.length))
    expect(answer.headers.get('content-type')).toBe('video/mp4')
  })

  it.each([
    'bytes=0-1,4-5',
    'bytes=0-1,90-91',
    'bytes=a-b',
    'bytes',
    'bytes=',
    'lines=0-1',
    'lines=90-91',
    'bytes=-1000',
  ])('returns the whole file for %s', async (range) => {
    const answer = await fetchPath(media.path, { range })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('0123456789')
    expect(answer.headers.get('content-range')).toBeNull()
  })

  it.each(['bytes=10-', 'bytes=10-11', 'bytes=5-4', 'bytes=-0'])('returns 416 for %s', async (range) => {
    const answer = await fetchPath(media.path, { range })
    expect(answer.status).toBe(416)
    expect(answer.headers.get('content-range')).toBe('bytes */10')
    expect(answer.headers.get('cache-control')).toBeNull()
    expect(await answer.text()).toBe('')
  })

  it('returns ten parts at the same moment that make up the whole', async () => {
    const bytes = randomBytes(5_000_000)
    const { path } = await store(bytes)
    const parts = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const answer = await fetchPath(path, { range: `bytes=${index * 500_000}-${index * 500_000 + 499_999}` })
        return Buffer.from(await answer.arrayBuffer())
      }),
    )
    expect(Buffer.concat(parts).equals(bytes)).toBe(true)
  })
})

describe('conditional requests', () => {
  let media: Stored
  let modified: string

  beforeAll(async () => {
    media = await store('0123456789')
    modified = (await fetchPath(media.path, {}, 'HEAD')).headers.get('last-modified') ?? ''
  })

  it('return 304 if If-None-Match matches', async () => {
    for (const tag of [`"${media.id}"`, `W/"${media.id}"`, `"x", "${media.id}"`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await fetchPath(media.path, { 'if-none-match': tag, range: 'bytes=0-1' }, method)
        expect(answer.status, tag).toBe(304)
        expect(answer.headers.get('etag')).toBe(`"${media.id}"`)
        expect(answer.headers.get('cache-control')).toContain('immutable')
        expect(await answer.text()).toBe('')
      }
    }
    expect((await fetchPath(media.path, { 'if-none-match': `"${randomUUID()}"` }, 'HEAD')).status).toBe(200)
  })

  it('return 403 with If-None-Match but without a valid link', async () => {
    const answer = await fetchPath(`${media.path}x`, { 'if-none-match': '*' })
    expect(answer.status).toBe(403)
  })

  it('return a part only if If-Range matches', async () => {
    const statusWith = async (ifRange: string) => {
      const answer = await fetchPath(media.path, { range: 'bytes=0-1', 'if-range': ifRange })
      await answer.arrayBuffer()
      return answer.status
    }
    expect(await statusWith(`"${media.id}"`)).toBe(206)
    expect(await statusWith(modified)).toBe(206)
    expect(await statusWith(`"${randomUUID()}"`)).toBe(200)
    expect(await statusWith(`W/"${media.id}"`)).toBe(200)
    expect(await statusWith('Thu, 01 Jan 1970 00:00:00 GMT')).toBe(200)
  })
})

describe('GET /media, 403', () => {
  it('refuses a changed link before anything is looked up', async () => {
    const { id, path } = await store('secret')
    const query = path.split('?')[1] ?? ''
    const [expires = '', signature = ''] = query.split('&')
    const later = `expires=${Number(expires.split('=')[1]) + 1}`
    const run = vi.spyOn(world.app.ctx.database, 'run')
    // The service polls other tables meanwhile.
    const countLooks = () => run.mock.calls.filter(([{ name }]) => /^media/.test(name)).length
    for (const altered of [
      `/media/${other.id}/${id}?${query}`,
      `/media/${organization.id}/${randomUUID()}?${query}`,
      `/media/${organization.id}/${id}?${later}&${signature}`,
      `/media/${organization.id}/${id}?${expires}`,
      `/media/${organization.id}/${id}?${signature}`,
      `/media/${organization.id}/${id}`,
      `/media/${organization.id}/${id}?${query}&${signature}`,
      `/media/${organization.id}/${id}?${expires}&${signature.slice(0, -1)}`,
      `/media/${organization.id}/${id}?${expires}&signature=`,
      `/media/${organization.id.toUpperCase()}/${id}?${query}`,
      `/media/nobody/nothing?${query}`,
    ]) {
      const answer = await world.request('GET', altered)
      expect(answer.status, altered).toBe(403)
      expect(answer.body).toEqual({ success: false, error: 'Invalid link', message: expect.any(String) })
      expect((await fetchPath(altered, {}, 'HEAD')).status).toBe(403)
    }
    expect(countLooks()).toBe(0)
    await world.request('GET', path)
    expect(countLooks()).toBe(1)
    run.mockRestore()
  })

  it('says when the link expired', async () => {
    const { id } = await store('x')
    const expired = world.app.ctx.mediaLinks.urlOf(organization.id, id, new Date('2026-01-02T03:04:05Z'))
    const answer = await world.request('GET', expired.slice(world.app.url.length))
    expect(answer.status).toBe(403)
    expect(answer.body.error).toBe('Invalid link')
    expect(answer.body.message).toContain('2026-01-02T03:04:05.000Z')
  })

  it('uses the clock of the service', async () => {
    const { path } = await store('x')
    world.advance((YEAR_SECONDS - 3_600) * 1_000)
    expect((await fetchPath(path, {}, 'HEAD')).status).toBe(200)
    world.advance(2 * 86_400_000)
    expect((await fetchPath(path, {}, 'HEAD')).status).toBe(403)
  })

  it.each([
    '/media/../secrets.json',
    '/media/%2e%2e/%2e%2e/secrets.json',
    '/media/..%2f..%2fsecrets.json/x',
    '/media/ORG/..%2f..%2fsecrets.json',
    '/media/ORG/%00',
    '/media/ORG/..\\..\\secrets.json',
    '/media/ORG/ID%00?QUERY',
    '/media/ORG/./ID?QUERY',
    '/media/ORG%2fID?QUERY',
    '/media/ORG/ID/?QUERY',
    '/media/ORG/%zz',
    '/media/',
  ])('does not leave the media folder for %s', async (path) => {
    const { id, path: link } = await store('x')
    const target = path
      .replace('ORG', organization.id)
      .replace('ID', id)
      .replace('QUERY', link.split('?')[1] ?? '')
    const { status, body } = readRaw(
      await sendRaw(world.app.url, `GET ${target} HTTP/1.1\r\nHost: parley\r\nConnection: close\r\n\r\n`),
    )
    expect([403, 404]).toContain(status)
    expect(body.success).toBe(false)
  })
})

describe('GET /media, 404', () => {
  it('is returned for a file that was never stored or was erased', async () => {
    const answer = await world.request('GET', linkTo(randomUUID()))
    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({ success: false, error: 'Not found', message: 'The file is no longer stored' })
  })

  it("is returned for the id of another organization, even with that organization's link", async () => {
    const { id } = await store('x')
    expect((await world.request('GET', linkTo(id, other))).status).toBe(404)
  })

  it('logs missing bytes', async () => {
    const { id, path } = await store('x')
    await world.app.ctx.blobs.remove([blobKey(organization.id, id)])
    const log = vi.spyOn(world.app.ctx.log, 'error')
    const answer = await world.request('GET', path)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('cache-control')).toBeNull()
    expect(log).toHaveBeenCalledWith(
      { organizationId: organization.id, mediaId: id },
      'the bytes of a stored file are missing in the media store',
    )
    expect((await fetchPath(path, {}, 'HEAD')).status).toBe(404)
    log.mockRestore()
  })
})

describe('a media store that fails', () => {
  it('causes a 503, and is logged', async () => {
    const { path } = await store('x')
    const failure = new Error('The media store s3://media failed')
    const blobs = vi.spyOn(world.app.ctx.blobs, 'open').mockRejectedValue(failure)
    const log = vi.spyOn(world.app.ctx.log, 'error')
    const answer = await world.request('GET', path)
    expect(answer.status).toBe(503)
    expect(answer.body.error).toBe('Service unavailable')
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(log).toHaveBeenCalledWith(expect.objectContaining({ err: failure }), 'the media store failed')
    blobs.mockRestore()
    log.mockRestore()
  })
})

describe('after a request', () => {
  it.skipIf(process.platform !== 'linux')('no file stays open, also if the client disconnects', async () => {
    const { id, path } = await store(randomBytes(20_000_000))
    const openFiles = async () => {
      const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
      return (await Promise.all(links)).filter((target) => target.endsWith(id)).length
    }
    const leaving = Array.from({ length: 5 }, async () => {
      const request = get(`${world.app.url}${path}`)
      const [answer] = await new Promise<[NodeJS.ReadableStream]>((resolve) =>
        request.once('response', (response) => resolve([response])),
      )
      await new Promise((resolve) => answer.once('data', resolve))
      answer.pause()
      return request
    })
    const requests = await Promise.all(leaving)
    expect(await openFiles()).toBe(5)
    for (const request of requests) request.destroy()
    await expect.poll(openFiles).toBe(0)
    await fetchPath(path, {}, 'HEAD')
    await expect.poll(openFiles).toBe(0)
  })

  it('the log contains no signature', async () => {
    const { ctx } = world.app
    const { id, path } = await store(randomBytes(20_000_000))
    const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
    const logs = levels.map((level) => vi.spyOn(ctx.log, level))
    const lines = () => logs.flatMap((log) => log.mock.calls)
    const request = get(`${world.app.url}${path}`)
    await new Promise((resolve) => request.once('response', resolve))
    request.destroy()
    await ctx.blobs.remove([blobKey(organization.id, id)])
    await fetchPath(path)
    await fetchPath(path, {}, 'POST')
    await fetchPath(path.replace('?', '/below?'))
    expect(lines()).not.toEqual([])
    const signature = /signature=(.*)/.exec(path)?.[1] ?? ''
    expect(signature).not.toBe('')
    expect(inspect(lines(), { depth: 10, maxStringLength: null })).not.toContain(signature)
    for (const log of logs) log.mockRestore()
  })
})

describe('changing the master key', () => {
  const OLD_KEY = 'master-key-of-the-tests'

  it('keeps links of the old key valid, and refuses those of an unknown key', async () => {
    const { id } = await store('x')
    const expiresAt = mediaExpiry(world.now())
    const linkOf = (...keys: string[]) => createMediaLinks(keys, () => '').urlOf(organization.id, id, expiresAt)
    const renewed = createMediaLinks(['a-new-master-key', OLD_KEY], () => world.app.url)
    const links = vi.spyOn(world.app.ctx, 'mediaLinks', 'get').mockReturnValue(renewed)
    expect((await fetchPath(linkOf(OLD_KEY), {}, 'HEAD')).status).toBe(200)
    expect((await fetchPath(linkOf('a-new-master-key'), {}, 'HEAD')).status).toBe(200)
    expect((await fetchPath(linkOf('another-key'), {}, 'HEAD')).status).toBe(403)
    expect(linkTo(id)).toBe(linkOf('a-new-master-key'))
    links.mockRestore()
    expect((await fetchPath(linkOf('a-new-master-key'), {}, 'HEAD')).status).toBe(403)
  })
})
