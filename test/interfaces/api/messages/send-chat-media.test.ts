import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import { parse } from 'content-disposition'
import { beforeEach, describe, expect, it } from 'vitest'
import { prune } from '../../../../src/core/maintenance/maintenance.js'
import { MEDIA_RULES, mediaExpiry } from '../../../../src/model/messages/media.js'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { type Answering, startHttpServer } from '../../../support/http-server.js'
import {
  aac,
  apng,
  doc,
  docx,
  id3,
  jpeg,
  mp3,
  mp4,
  ogg,
  padded,
  pdf,
  png,
  ppt,
  pptx,
  xls,
  xlsx,
} from '../../../support/media.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { storedBytes } from '../../../support/received-files.js'
import { mediaRows } from '../../../support/rows/media.js'
import { useStarted } from '../../../support/started.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const DAY_MS = 24 * 3_600_000

const files = useStarted(() => startHttpServer((asked, response) => answering(asked, response)))
const world = useWorld()
const request = requestAsDescribed(world)
const other = useOrganization(world)
let organization: TestOrganization
/** The answers of the file server. */
let answering: Answering
let people = 0

beforeEach(async () => {
  organization = await world.createOrganization()
})

async function newContact(): Promise<string> {
  const digits = `1650556${String(++people).padStart(4, '0')}`
  await createContact(world, organization, `+${digits}`)
  return digits
}

const send = (phone_number: string, body: object, headers: Record<string, string> = {}) =>
  request('POST', '/send-chat', { key: organization.key, headers, body: { phone_number, ...body } })

/** Answers with the bytes, by default with a wrong Content-Type. */
function serve(bytes: Buffer, contentType = 'text/html'): void {
  const headers = { 'content-type': contentType, 'content-length': bytes.length }
  answering = (_asked, response) => void response.writeHead(200, headers).end(bytes)
}

const STORES: [string, { bytes: Buffer; headers: OutgoingHttpHeaders; status: number }, Buffer][] = [
  [
    'with Content-Encoding gzip',
    { bytes: gzipSync(pdf()), headers: { 'content-encoding': 'gzip' }, status: 200 },
    pdf(),
  ],
  [
    'with Content-Encoding aws-chunked',
    { bytes: pdf(), headers: { 'content-encoding': 'aws-chunked' }, status: 200 },
    pdf(),
  ],
  ['with Content-Encoding UTF8', { bytes: pdf(), headers: { 'content-encoding': 'UTF8' }, status: 200 }, pdf()],
  ['with the status 203', { bytes: pdf(), headers: {}, status: 203 }, pdf()],
  ['behind line ends', { bytes: pdfBehind('\r\n\r\n'), headers: {}, status: 200 }, pdfBehind('\r\n\r\n')],
  ['behind a byte order mark', { bytes: pdfBehind('\ufeff\n'), headers: {}, status: 200 }, pdfBehind('\ufeff\n')],
]

function pdfBehind(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), pdf()])
}

describe('a document', () => {
  it.each(STORES)('is sent although its store serves it %s', async (_how, { bytes, headers, status }, file) => {
    answering = (_asked, response) => void response.writeHead(status, headers).end(bytes)
    const digits = await newContact()
    const answer = await send(digits, { message_type: 'document', media_url: `${files.url}/bill.pdf` })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect((await uploads()).at(-1)).toMatchObject({ mime_type: 'application/pdf', file_size: file.length })
    const [row] = (await conversation(world, organization, digits)).body.messages
    expect(Buffer.from(await (await fetch(row.media_url)).arrayBuffer()).equals(file)).toBe(true)
  })
})

async function uploads() {
  return (await world.sim('GET', `/media?phone_number_id=${organization.phoneNumberId}`)).body.media
}

async function lastSent() {
  const { body } = await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}&limit=1`)
  return body.messages[0]?.payload
}

/** The newest message of a conversation. */
async function lastMessage(digits: string) {
  return (await conversation(world, organization, digits)).body.messages.at(-1)
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function bytesAt(url: string): Promise<Buffer> {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const PPTX = 'application/vnd.openxmlformats-officedocument.presentationml.presentation'

describe('POST /send-chat with a file', () => {
  it.each([
    ['image', 'JPEG', jpeg(), 'image/jpeg'],
    ['image', 'PNG', png(), 'image/png'],
    ['image', 'animated PNG', apng(), 'image/png'],
    ['video', 'MP4', mp4(), 'video/mp4'],
    ['audio', 'MP3', mp3(), 'audio/mpeg'],
    ['audio', 'MP3 with a tag', Buffer.concat([id3(), mp3()]), 'audio/mpeg'],
    ['audio', 'AAC', aac(), 'audio/aac'],
    ['audio', 'OGG', ogg(), 'audio/ogg'],
    ['document', 'PDF', pdf(), 'application/pdf'],
    ['document', 'DOC', doc(), 'application/msword'],
    ['document', 'DOCX', docx(), DOCX],
    ['document', 'XLS', xls(), 'application/vnd.ms-excel'],
    ['document', 'XLSX', xlsx(), XLSX],
    ['document', 'PPT', ppt(), 'application/vnd.ms-powerpoint'],
    ['document', 'PPTX', pptx(), PPTX],
  ])('accepts %s: %s, regardless of URL and header', async (message_type, _name, bytes, mimeType) => {
    const digits = await newContact()
    serve(bytes)
    const answer = await send(digits, { message_type, media_url: `${files.url}/page.html?x=1#part` })
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ recipient: digits, message_type })

    const uploaded = await uploads()
    expect(uploaded).toMatchObject([{ mime_type: mimeType, file_size: bytes.length, sha256: sha256(bytes) }])
    expect(await lastSent()).toMatchObject({ type: message_type, [message_type]: { id: uploaded[0].id } })

    const { media_url, media_type } = await lastMessage(digits)
    expect(media_type).toBe(message_type)
    expect(media_url.startsWith(`${world.app.url}/media/${organization.id}/`)).toBe(true)
    const shown = await fetch(media_url)
    expect(shown.headers.get('content-type')).toBe(mimeType)
    expect(Buffer.from(await shown.arrayBuffer()).equals(bytes)).toBe(true)
    const part = await fetch(media_url, { headers: { range: 'bytes=2-4' } })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes 2-4/${bytes.length}`)
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(2, 5))).toBe(true)
  })

  it('stores the file under the id of its message, with a URL that works for a year', async () => {
    const digits = await newContact()
    serve(png())
    await send(digits, { message_type: 'image', media_url: `${files.url}/a.png` })
    const { id, media_url, created_at } = await lastMessage(digits)
    const rows = await mediaRows(world, organization)
    expect(rows).toEqual([
      {
        organization_id: organization.id,
        id,
        mime_type: 'image/png',
        size: png().length,
        filename: null,
        message_id: id,
      },
    ])
    const expires = Number(new URL(media_url).searchParams.get('expires'))
    expect(expires).toBe(Math.floor(mediaExpiry(new Date(created_at)).getTime() / 1_000))
  })

  it.each([
    ['image', jpeg()],
    ['video', mp4()],
    ['document', pdf()],
  ])('sends and shows the caption: %s', async (message_type, bytes) => {
    const digits = await newContact()
    serve(bytes)
    await send(digits, { message_type, media_url: `${files.url}/file`, caption: 'Olá 👋' })
    expect(await lastSent()).toMatchObject({ [message_type]: { caption: 'Olá 👋' } })
    expect(await lastMessage(digits)).toMatchObject({ message: 'Olá 👋', media_type: message_type })
  })

  it.each([
    ['Offer €.docx', '/x.docx', 'Offer €.docx'],
    [undefined, '/folder/Cota%C3%A7%C3%A3o.DOCX?v=2', 'Cotação.DOCX'],
    [null, '/Report.pdf', 'document.docx'],
    ['', '/download', 'document.docx'],
    [undefined, '/%E0%A4%A.docx', 'document.docx'],
    [undefined, '/%00x.docx', 'document.docx'],
    [undefined, '/a%0D%0Ab.docx', 'document.docx'],
    [undefined, '/..%2F..%2Fpasswd.docx', 'document.docx'],
    [undefined, `/${'x'.repeat(236)}.docx`, 'document.docx'],
  ])('names a document: given %j, at %j, becomes %j', async (filename, path, expected) => {
    const digits = await newContact()
    serve(docx())
    const answer = await send(digits, { message_type: 'document', media_url: `${files.url}${path}`, filename })
    expect(answer.status).toBe(200)
    expect((await lastSent()).document.filename).toBe(expected)
    const shown = await fetch((await lastMessage(digits)).media_url)
    await shown.arrayBuffer()
    const { type, parameters } = parse(shown.headers.get('content-disposition') ?? '')
    expect({ type, parameters }).toEqual({ type: 'attachment', parameters: { filename: expected } })
  })

  it('follows redirects to public addresses', async () => {
    const digits = await newContact()
    answering = (asked, response) => {
      if (asked.path === '/moved') response.end(png())
      else response.writeHead(302, { location: '/moved' }).end()
    }
    expect((await send(digits, { message_type: 'image', media_url: `${files.url}/old` })).status).toBe(200)
    expect(await bytesAt((await lastMessage(digits)).media_url)).toEqual(png())
  })

  it('shows the file of a message that the upstream refuses', async () => {
    await createContact(world, organization, '+16505000001')
    serve(png())
    const answer = await send('16505000001', { message_type: 'image', media_url: `${files.url}/a.png` })
    expect(answer.body.error).toBe('Upstream rejected message')
    const shown = await lastMessage('16505000001')
    expect(shown.message_status).toBe('failed')
    expect(await bytesAt(shown.media_url)).toEqual(png())
  })

  it('with the same Idempotency-Key neither fetches, uploads nor sends again', async () => {
    const digits = await newContact()
    serve(png())
    const body = { message_type: 'image', media_url: `${files.url}/once.png` }
    const first = await send(digits, body, { 'idempotency-key': 'once' })
    const second = await send(digits, body, { 'idempotency-key': 'once' })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
    expect(files.taken.filter(({ path }) => path === '/once.png')).toHaveLength(1)
    expect(await uploads()).toHaveLength(1)
    expect((await conversation(world, organization, digits)).body.messages).toHaveLength(1)
  })
})

/** A file of exactly this size; its own padding would add some bytes. */
const filledUp = (file: Buffer, size: number) => Buffer.concat([file, Buffer.alloc(size - file.length)])

describe('the largest file', () => {
  const { image, video, audio, document } = MEDIA_RULES

  it.each([
    ['image', 5_242_880, filledUp(jpeg(), image.maxBytes)],
    ['video', 16_777_216, padded(mp4(), video.maxBytes - 8)],
    ['audio', 16_777_216, filledUp(mp3(), audio.maxBytes)],
  ])('of the type %s has %i bytes, with and without Content-Length', async (message_type, size, bytes) => {
    expect(bytes).toHaveLength(size)
    const digits = await newContact()
    serve(bytes)
    expect((await send(digits, { message_type, media_url: `${files.url}/told` })).status).toBe(200)
    answering = (_asked, response) => {
      response.write(bytes.subarray(0, 1_000))
      response.end(bytes.subarray(1_000))
    }
    expect((await send(digits, { message_type, media_url: `${files.url}/untold` })).status).toBe(200)
    const whole = { file_size: size, sha256: sha256(bytes) }
    expect(await uploads()).toMatchObject([whole, whole])
  })

  it('of the type document has 104857600 bytes', async () => {
    const digits = await newContact()
    const bytes = filledUp(pdf(), document.maxBytes)
    serve(bytes)
    expect((await send(digits, { message_type: 'document', media_url: `${files.url}/large` })).status).toBe(200)
    expect(await uploads()).toMatchObject([{ file_size: 104_857_600, sha256: sha256(bytes) }])
    const end = await fetch((await lastMessage(digits)).media_url, { headers: { range: 'bytes=-3' } })
    expect(end.headers.get('content-range')).toBe('bytes 104857597-104857599/104857600')
    expect(await end.arrayBuffer()).toHaveProperty('byteLength', 3)
  })
})

describe('the header of an interactive message', () => {
  const interactive = (header_media: object) => ({
    message_type: 'interactive',
    interactive: { type: 'button', body: 'Well?', buttons: [{ id: 'yes', title: 'Yes' }], header_media },
  })

  it.each([
    ['image', { bytes: png(), mimeType: 'image/png' }, {}, {}],
    ['video', { bytes: mp4(), mimeType: 'video/mp4' }, {}, {}],
    ['document', { bytes: pdf(), mimeType: 'application/pdf' }, {}, { filename: 'Offer.pdf' }],
    ['document', { bytes: pdf(), mimeType: 'application/pdf' }, { filename: 'Mine.pdf' }, { filename: 'Mine.pdf' }],
  ])('may be a file: %s', async (type, { bytes, mimeType }, given, shown) => {
    const digits = await newContact()
    serve(bytes)
    const answer = await send(digits, interactive({ type, url: `${files.url}/Offer.pdf`, ...given }))
    expect(answer.status).toBe(200)
    const uploaded = await uploads()
    expect(uploaded).toMatchObject([{ mime_type: mimeType, sha256: sha256(bytes) }])
    const { header } = (await lastSent()).interactive
    expect(header).toEqual({ type, [type]: { id: uploaded[0].id, ...shown } })
    const { media_url } = await lastMessage(digits)
    expect((await bytesAt(media_url)).equals(bytes)).toBe(true)
  })

  it.each([
    ['image', mp4(), 'its content is video/mp4, and image messages take JPEG or PNG'],
    ['video', png(), 'its content is image/png, and video messages take MP4'],
    [
      'document',
      jpeg(),
      'its content is image/jpeg, and document messages take PDF, DOC, DOCX, XLS, XLSX, PPT or PPTX',
    ],
  ])('of another kind than %s is refused with its own field name', async (type, bytes, reason) => {
    const digits = await newContact()
    serve(bytes)
    const answer = await send(digits, interactive({ type, url: `${files.url}/file` }))
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      success: false,
      error: 'Invalid media',
      message: `interactive.header_media.url cannot be used: ${reason}`,
      reason: 'wrong_type',
    })
    expect(await uploads()).toEqual([])
  })
})

describe('concurrent sends', () => {
  it('get separate files', async () => {
    const numbers: string[] = []
    for (let i = 0; i < 10; i++) numbers.push(await newContact())
    const fileOf = (digits: string) => padded(png(), 100_000 + numbers.indexOf(digits))
    answering = (asked, response) => void response.end(fileOf(asked.path.slice(1)))
    const answers = await Promise.all(
      numbers.map((digits) => send(digits, { message_type: 'image', media_url: `${files.url}/${digits}` })),
    )
    expect(answers.map(({ status }) => status)).toEqual(numbers.map(() => 200))
    expect(answers.map(({ body }) => body.data.recipient)).toEqual(numbers)
    expect(await uploads()).toHaveLength(10)
    for (const digits of numbers) {
      expect((await bytesAt((await lastMessage(digits)).media_url)).equals(fileOf(digits))).toBe(true)
    }
  })
})

describe('another organization', () => {
  it('cannot create valid links to a file', async () => {
    const digits = await newContact()
    serve(png())
    await send(digits, { message_type: 'image', media_url: `${files.url}/a.png` })
    const { media_url, id } = await lastMessage(digits)
    const swapped = media_url.replace(organization.id, other.id)
    expect((await fetch(swapped)).status).toBe(403)
    // A link signed for the other organization does not work.
    const theirs = world.app.ctx.mediaLinks.urlOf(other.id, id, mediaExpiry(world.now()))
    expect((await fetch(theirs)).status).toBe(404)
    const query = `chatNumber=${digits}`
    expect((await request('GET', `/conversations?${query}`, { key: other.key })).status).toBe(404)
  })
})

describe('erasing the contact', () => {
  it('deletes its file, and no other', async () => {
    const [erased, kept] = [await newContact(), await newContact()]
    serve(png())
    for (const digits of [erased, kept]) {
      await send(digits, { message_type: 'image', media_url: `${files.url}/a.png` })
    }
    const { id, media_url } = await lastMessage(erased)
    const staying = await lastMessage(kept)
    expect((await request('DELETE', `/contact?chat_id=${erased}`, { key: organization.key })).status).toBe(200)
    expect((await fetch(media_url)).status).toBe(404)
    await world.drain()
    expect(await storedBytes(world, organization, id)).toBeNull()
    expect(await bytesAt(staying.media_url)).toEqual(png())
  })

  it('while its file is being sent leaves no trace after a day', async () => {
    const digits = await newContact()
    answering = async (_asked, response) => {
      await request('DELETE', `/contact?chat_id=${digits}`, { key: organization.key })
      response.end(png())
    }
    const answer = await send(digits, { message_type: 'image', media_url: `${files.url}/a.png` })
    expect(answer.body.error).toBe('Contact not found')
    const left = () => mediaRows(world, organization)
    const ids = (await left()).map((row) => row.id)
    world.advance(DAY_MS + 60_000)
    await prune(world.app.work)
    expect(await left()).toEqual([])
    for (const id of ids) expect(await storedBytes(world, organization, id)).toBeNull()
    expect(await lastSent()).toBeUndefined()
  })
})
