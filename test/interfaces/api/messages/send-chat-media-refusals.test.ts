import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MEDIA_RULES } from '../../../../src/model/messages/media.js'
import { createContact } from '../../../support/contacts.js'
import { type Answering, type HttpServer, startHttpServer } from '../../../support/http-server.js'
import {
  aac,
  amr,
  compoundFile,
  doc,
  gif,
  isoMedia,
  jpeg,
  m4a,
  mp3,
  mp4,
  officeFiles,
  ogg,
  oggOf,
  padded,
  pdf,
  png,
  webp,
  zip,
} from '../../../support/media.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { eventsOf } from '../../../support/rows/events.js'
import { mediaRows } from '../../../support/rows/media.js'
import { messageRows } from '../../../support/rows/messages.js'
import { type Answer, startWorld, type TestOrganization, type World } from '../../../support/world.js'

const NUMBER = '16505570001'
const REMEDY =
  'files are fetched from public addresses only. Give an address that the internet can reach, or have the operator allow it (PARLEY_ALLOWED_PRIVATE_HOSTS)'

let folder: string
let world: World
let request: World['request']
let organization: TestOrganization
let files: HttpServer
/** The answers of the file server. */
let answering: Answering

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-media-'))
  files = await startHttpServer((asked, response) => answering(asked, response))
})

afterAll(async () => {
  await files.close()
  await rm(folder, { recursive: true })
})

/** A world in which only these private hosts are allowed; checks that nothing remains of refused requests. */
function inWorldThatAllows(hosts: string): void {
  beforeAll(async () => {
    world = await startWorld({ PARLEY_DATA_DIR: folder, PARLEY_ALLOWED_PRIVATE_HOSTS: hosts })
    request = requestAsDescribed(world)
    organization = await world.createOrganization()
    await createContact(world, organization, `+${NUMBER}`)
  })

  beforeEach(() => {
    files.taken.length = 0
  })

  afterEach(async () => {
    expect(await messageRows(world)).toEqual([])
    expect(await mediaRows(world)).toEqual([])
    expect((await eventsOf(world, organization)).map(({ type }) => type)).not.toContain('message.sent')
    expect((await world.sim('GET', '/messages')).body.messages).toEqual([])
    expect((await world.sim('GET', '/media')).body.media).toEqual([])
    const left = await readdir(folder, { recursive: true, withFileTypes: true })
    expect(left.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([])
  })

  afterAll(() => world.close())
}

const send = (message_type: string, media_url: string) =>
  request('POST', '/send-chat', { key: organization.key, body: { phone_number: NUMBER, message_type, media_url } })

function expectRefusal({ status, body }: Answer, reason: string, text: string): void {
  expect(body).toEqual({
    success: false,
    error: 'Invalid media',
    message: `media_url cannot be used: ${text}`,
    reason,
  })
  expect(status).toBe(400)
}

function serve(bytes: Buffer, contentType: string): void {
  const headers = { 'content-type': contentType, 'content-length': bytes.length }
  answering = (_asked, response) => void response.writeHead(200, headers).end(bytes)
}

/** A file of one byte more than `limit`. */
const oneTooMany = (file: Buffer, limit: number) => Buffer.concat([file, Buffer.alloc(limit + 1 - file.length)])

/** Serves a document of this size, generated while it is sent, until the client disconnects. */
function stream(response: ServerResponse, size: number): void {
  const head = pdf()
  const filler = Buffer.alloc(1_048_576)
  function* bytes() {
    yield head
    for (let left = size - head.length; left > 0; left -= filler.length) yield filler.subarray(0, left)
  }
  Readable.from(bytes()).pipe(response)
}

describe('POST /send-chat returns 400 Invalid media if', () => {
  inWorldThatAllows('127.0.0.0/8')

  describe('the content has another type than URL and header say', () => {
    const macros = { ...officeFiles('word/document.xml', 'wordprocessingml.document'), 'word/vbaProject.bin': 'x' }
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    const html = Buffer.from('<!doctype html><html><script>alert(1)</script></html>')

    it.each([
      ['image', 'GIF', { bytes: gif(), contentType: 'image/jpeg' }, 'image/gif'],
      ['image', 'WebP', { bytes: webp(), contentType: 'image/jpeg' }, 'image/webp'],
      ['image', 'PDF', { bytes: pdf(), contentType: 'image/jpeg' }, 'application/pdf'],
      ['image', 'DOC', { bytes: doc(), contentType: 'image/png' }, 'application/msword'],
      ['image', 'SVG', { bytes: svg, contentType: 'image/png' }, null],
      ['image', 'HTML', { bytes: html, contentType: 'image/jpeg' }, null],
      ['video', 'PNG', { bytes: png(), contentType: 'video/mp4' }, 'image/png'],
      ['video', 'M4A', { bytes: m4a(), contentType: 'video/mp4' }, 'audio/mp4'],
      ['video', '3GP', { bytes: isoMedia('3gp5', ['vide', 'soun']), contentType: 'video/mp4' }, 'video/3gpp'],
      [
        'video',
        'QuickTime',
        { bytes: isoMedia('qt  ', ['vide', 'soun']), contentType: 'video/mp4' },
        'video/quicktime',
      ],
      ['audio', 'M4A', { bytes: m4a(), contentType: 'audio/aac' }, 'audio/mp4'],
      ['audio', 'MP4', { bytes: mp4(), contentType: 'audio/mpeg' }, 'video/mp4'],
      ['audio', 'AMR', { bytes: amr(), contentType: 'audio/mpeg' }, 'audio/amr'],
      ['audio', 'OGG video', { bytes: oggOf('\x80theora'), contentType: 'audio/ogg' }, 'video/ogg'],
      ['document', 'text', { bytes: Buffer.from('just words'), contentType: 'application/pdf' }, null],
      ['document', 'HTML', { bytes: html, contentType: 'application/pdf' }, null],
      ['document', 'SVG', { bytes: svg, contentType: 'application/pdf' }, null],
      ['document', 'JPEG', { bytes: jpeg(), contentType: 'application/pdf' }, 'image/jpeg'],
      ['document', 'MP3', { bytes: mp3(), contentType: 'application/pdf' }, 'audio/mpeg'],
      ['document', 'OGG', { bytes: ogg(), contentType: 'application/pdf' }, 'audio/ogg'],
      ['document', 'AAC', { bytes: aac(), contentType: 'application/pdf' }, 'audio/aac'],
      ['document', 'ZIP', { bytes: zip({ 'word/x': 'x' }), contentType: 'application/pdf' }, 'application/zip'],
      ['document', 'DOCM', { bytes: zip(macros), contentType: 'application/pdf' }, 'application/zip'],
      [
        'document',
        'OLE of another program',
        { bytes: compoundFile(['Drawing']), contentType: 'application/pdf' },
        'application/x-cfb',
      ],
      ['document', 'RTF', { bytes: Buffer.from('{\\rtf1 x}'), contentType: 'application/msword' }, 'application/rtf'],
      ['document', 'half a signature', { bytes: Buffer.from('%PD'), contentType: 'application/pdf' }, null],
    ])('%s: %s', async (kind, _name, { bytes, contentType }, found) => {
      serve(bytes, contentType)
      const path = { image: 'a.jpg', video: 'a.mp4', audio: 'a.mp3', document: 'a.pdf' }[kind]
      const { names } = MEDIA_RULES[kind as keyof typeof MEDIA_RULES]
      const content = found === null ? 'its content is of no known type' : `its content is ${found}`
      expectRefusal(
        await send(kind, `${files.url}/${path}`),
        'wrong_type',
        `${content}, and ${kind} messages take ${names}`,
      )
    })
  })

  describe('the file is one byte too large', () => {
    const { image, video, audio, document } = MEDIA_RULES

    it.each([
      ['image', oneTooMany(jpeg(), image.maxBytes), '5 MB (5242880 bytes)'],
      ['video', oneTooMany(mp4(), video.maxBytes), '16 MB (16777216 bytes)'],
      ['audio', oneTooMany(mp3(), audio.maxBytes), '16 MB (16777216 bytes)'],
    ])('in an %s, with and without Content-Length', async (kind, bytes, limit) => {
      serve(bytes, 'x/y')
      expectRefusal(await send(kind, `${files.url}/x`), 'too_big', `it is larger than ${limit}`)
      answering = (_asked, response) => {
        response.write(bytes.subarray(0, 1_000))
        response.end(bytes.subarray(1_000))
      }
      expectRefusal(await send(kind, `${files.url}/x`), 'too_big', `it is larger than ${limit}`)
    })

    it('in a document, with and without Content-Length', async () => {
      const size = document.maxBytes + 1
      answering = ({ path }, response) => {
        if (path === '/told') response.setHeader('content-length', size)
        stream(response, size)
      }
      const reason = 'it is larger than 100 MB (104857600 bytes)'
      expectRefusal(await send('document', `${files.url}/told`), 'too_big', reason)
      expectRefusal(await send('document', `${files.url}/untold`), 'too_big', reason)
    })

    it('for the type of the message, not of the file', async () => {
      serve(padded(png(), 16 * 1_048_576), 'image/png')
      expectRefusal(await send('image', `${files.url}/x.png`), 'too_big', 'it is larger than 5 MB (5242880 bytes)')
    })
  })

  describe('the answer is unusable', () => {
    it.each([
      ['is empty', (response) => response.end(), 'empty', 'it is empty'],
      ['is 404', (response) => response.writeHead(404).end(png()), 'status', 'the server answered 404'],
      ['is 500', (response) => response.writeHead(500).end(png()), 'status', 'the server answered 500'],
      ['is 204', (response) => response.writeHead(204).end(), 'status', 'the server answered 204'],
      [
        'is 206',
        (response) => response.writeHead(206, { 'content-range': 'bytes 0-9/10' }).end(png()),
        'status',
        'the server answered 206',
      ],
      [
        'is not compressed as it says',
        (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(png()),
        'encoding',
        'it is compressed (gzip) and cannot be unpacked',
      ],
      [
        'is a bomb',
        (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20_000_000))),
        'too_big',
        'it is larger than 5 MB (5242880 bytes)',
      ],
      [
        'hangs up at once',
        (response) => response.destroy(),
        'broken',
        'the server hung up, or what it answered is not HTTP',
      ],
      [
        'breaks off',
        (response) => {
          response.writeHead(200, { 'content-length': png().length })
          response.write(png().subarray(0, 50), () => response.destroy())
        },
        'broken',
        'the connection broke before its end',
      ],
      [
        'breaks off in the middle of chunks',
        (response) => response.write(png(), () => response.destroy()),
        'broken',
        'the connection broke before its end',
      ],
      [
        'redirects in a circle',
        (response) => response.writeHead(302, { location: '/again' }).end(),
        'too_many_redirects',
        'it redirects more than 5 times',
      ],
    ] as [string, (response: ServerResponse) => unknown, string, string][])(
      '%s',
      async (_how, answer, reason, text) => {
        answering = (_asked, response) => void answer(response)
        expectRefusal(await send('image', `${files.url}/a.png`), reason, text)
      },
    )

    it('because the port is closed', async () => {
      const gone = await startHttpServer(() => undefined)
      await gone.close()
      expectRefusal(await send('image', `${gone.url}/a.png`), 'unreachable', 'its server could not be reached')
    })

    it('because the host has no address', async () => {
      const answer = await send('image', 'http://nothing.invalid/a.png')
      expect(answer.body).toMatchObject({ error: 'Invalid media', reason: 'unreachable' })
    })
  })

  describe('the URL redirects', () => {
    it.each([
      ['http://10.0.0.1/a.png', '10.0.0.1'],
      ['http://169.254.169.254/latest/meta-data/', '169.254.169.254'],
      ['//192.168.0.1/a.png', '192.168.0.1'],
      ['http://[::ffff:10.0.0.1]/', '::ffff:a00:1'],
      ['http://0x0a000001/', '10.0.0.1'],
    ])('to the private address %s', async (location, address) => {
      answering = (_asked, response) => void response.writeHead(302, { location }).end()
      const text = `its address ${address} is private: ${REMEDY}`
      expectRefusal(await send('image', `${files.url}/a.png`), 'private_address', text)
    })

    it.each([
      ['file:///etc/passwd', 'begins with neither http:// nor https://'],
      ['ftp://127.0.0.1/a.png', 'begins with neither http:// nor https://'],
      ['http://user:secret@127.0.0.1/a.png', 'contains a user name or password'],
      ['http://', 'is not valid'],
    ])('to %s', async (location, what) => {
      answering = (_asked, response) => void response.writeHead(302, { location }).end()
      expectRefusal(await send('image', `${files.url}/a.png`), 'bad_url', `it redirects to a URL that ${what}`)
    })
  })

  describe('the URL is invalid', () => {
    it.each([
      ['ftp://127.0.0.1/a.png', 'begins with neither http:// nor https://'],
      ['file:///etc/passwd', 'begins with neither http:// nor https://'],
      [`data:image/png;base64,${png().toString('base64')}`, 'begins with neither http:// nor https://'],
      ['blob:http://127.0.0.1/x', 'begins with neither http:// nor https://'],
      ['javascript:alert(1)', 'begins with neither http:// nor https://'],
      ['http://user:secret@127.0.0.1/a.png', 'contains a user name or password'],
      ['http://user@127.0.0.1/a.png', 'contains a user name or password'],
      ['a.png', 'is not valid'],
      ['//127.0.0.1/a.png', 'is not valid'],
      ['http://', 'is not valid'],
      ['http://127.0.0.1:99999/', 'is not valid'],
      ['http://1.2.3.4.5/', 'is not valid'],
    ])('%s', async (url, what) => {
      expectRefusal(await send('image', url), 'bad_url', `its URL ${what}`)
    })
  })
})

describe('POST /send-chat returns 400 Invalid media for private addresses', () => {
  inWorldThatAllows('192.0.2.0/24')

  const refused = (url: string) => send('image', url.replace('PORT', new URL(files.url).port))

  it.each([
    ['http://127.0.0.1:PORT/a.png', '127.0.0.1'],
    ['http://localhost:PORT/a.png', '(127.0.0.1|::1)'],
    ['http://LOCALHOST:PORT/a.png', '(127.0.0.1|::1)'],
    ['http://127.1:PORT/a.png', '127.0.0.1'],
    ['http://2130706433:PORT/a.png', '127.0.0.1'],
    ['http://0x7f000001:PORT/a.png', '127.0.0.1'],
    ['http://0x7f.0.0.1:PORT/a.png', '127.0.0.1'],
    ['http://0177.0.0.1:PORT/a.png', '127.0.0.1'],
    ['http://127.0.0.1.:PORT/a.png', '127.0.0.1'],
    ['http://%31%32%37.0.0.1:PORT/a.png', '127.0.0.1'],
    ['http://①②⑦.⓪.⓪.①:PORT/a.png', '127.0.0.1'],
    ['http://127。0。0。1:PORT/a.png', '127.0.0.1'],
    ['http:127.0.0.1:PORT/a.png', '127.0.0.1'],
    ['http:\\\\127.0.0.1:PORT\\a.png', '127.0.0.1'],
    [' http://127.0.0.1:PORT/a.png', '127.0.0.1'],
    ['http://12\t7.0.0.1:PORT/a.png', '127.0.0.1'],
    ['http://0:PORT/a.png', '0.0.0.0'],
    ['http://[::1]:PORT/a.png', '::1'],
    ['http://[::]:PORT/a.png', '::'],
    ['http://[::ffff:127.0.0.1]:PORT/a.png', '::ffff:7f00:1'],
    ['http://[::127.0.0.1]:PORT/a.png', '::7f00:1'],
    ['http://[64:ff9b::7f00:1]:PORT/a.png', '64:ff9b::7f00:1'],
    ['http://10.0.0.1/a.png', '10.0.0.1'],
    ['http://172.16.0.1/a.png', '172.16.0.1'],
    ['http://192.168.1.1/a.png', '192.168.1.1'],
    ['http://100.64.0.1/a.png', '100.64.0.1'],
    ['http://169.254.169.254/latest/meta-data/', '169.254.169.254'],
    ['http://2852039166/latest/meta-data/', '169.254.169.254'],
    ['http://[fd00:ec2::254]/latest/meta-data/', 'fd00:ec2::254'],
    ['http://[fe80::1]/a.png', 'fe80::1'],
    ['https://127.0.0.1:PORT/a.png', '127.0.0.1'],
  ])('%s', async (url, address) => {
    serve(png(), 'image/png')
    const answer = await refused(url)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      success: false,
      error: 'Invalid media',
      message: expect.stringMatching(
        new RegExp(
          `^media_url cannot be used: its address ${address} is private: ${REMEDY.replace(/[.()]/g, '\\$&')}$`,
        ),
      ),
      reason: 'private_address',
    })
    expect(files.taken).toEqual([])
  })

  it("including the upstream's if it is on this machine", async () => {
    const answer = await send('image', `${new URL(world.simulator.url).origin}/_sim/messages`)
    expect(answer.body).toMatchObject({ error: 'Invalid media', reason: 'private_address' })
  })
})
