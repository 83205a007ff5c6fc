import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import { MEDIA_RULES } from '../../../../src/model/messages/media.js'
import { contact } from '../../../support/contacts.js'
import { startHttpServer } from '../../../support/http-server.js'
import {
  aac,
  doc,
  docx,
  gif,
  isoMedia,
  jpeg,
  mp4,
  pdf,
  png,
  ppt,
  pptx,
  webp,
  xls,
  xlsx,
  zip,
} from '../../../support/media.js'
import { mediaRows } from '../../../support/rows/media.js'
import { expectRefusal, startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'

/** Serves the bytes of a test. */
const server = useStarted(() => startHttpServer((_asked, response) => void response.writeHead(200).end(bytes)))
const template = useStarted(startTemplateWorld)
let bytes: Buffer

beforeAll(async () => {
  for (const kind of ['image', 'video', 'document']) {
    await template.putTemplate({ name: `with_${kind}`, header: { format: kind.toUpperCase() }, body: `Olá, {{name}}` })
  }
})

const request = (kind: string, chatNumber: string, headerMedia: string) => ({
  templateName: `with_${kind}`,
  chatNumber,
  headerMedia,
  bodyParameters: { name: 'Ana' },
})

describe('headerMedia', () => {
  it.each([
    ['image', jpeg(), {}],
    ['image', png(), {}],
    ['video', mp4(), {}],
    ['document', pdf(), { filename: 'conta.pdf' }],
    ['document', doc(), { filename: 'document.doc' }],
    ['document', docx(), { filename: 'document.docx' }],
    ['document', xls(), { filename: 'document.xls' }],
    ['document', xlsx(), { filename: 'document.xlsx' }],
    ['document', ppt(), { filename: 'document.ppt' }],
    ['document', pptx(), { filename: 'document.pptx' }],
    ['document', Buffer.concat([Buffer.from('\r\n\t\ufeff'), pdf()]), { filename: 'conta.pdf' }],
  ])('is uploaded, sent by its id, stored and shown: %s', async (kind, file, extras) => {
    bytes = file
    const digits = await template.newContact()
    const sent = await template.sent(request(kind, digits, `${server.url}/conta.pdf`))
    const { body } = await template.world.sim('GET', `/media?phone_number_id=${template.organization.phoneNumberId}`)
    const uploaded = body.media.at(-1)
    expect(uploaded.file_size).toBe(file.length)
    expect(sent.components).toEqual([
      { type: 'header', parameters: [{ type: kind, [kind]: { id: uploaded.id, ...extras } }] },
      { type: 'body', parameters: [{ type: 'text', parameter_name: 'name', text: 'Ana' }] },
    ])
    const [shown] = await template.shown(digits)
    expect(shown).toMatchObject({ message: 'Olá, Ana', media_type: kind, message_type: 'template' })
    const fetched = await fetch(shown.media_url)
    expect(Buffer.from(await fetched.arrayBuffer())).toEqual(file)
  })

  it.each([
    ['image', jpeg()],
    ['video', mp4()],
  ] as const)('may be exactly as large as its limit: %s', async (kind, file) => {
    const { maxBytes } = MEDIA_RULES[kind]
    bytes = Buffer.concat([file, Buffer.alloc(maxBytes - file.length)])
    const digits = await template.newContact()
    expect((await template.send(request(kind, digits, server.url))).body.success).toBe(true)
  })
})

describe('headerMedia returns 400 Invalid media, before anything is sent or recorded, for', () => {
  const { image, video, document } = MEDIA_RULES
  const grown = (file: Buffer, size: number) => Buffer.concat([file, Buffer.alloc(size - file.length)])

  async function expectInvalid(kind: string, url: string, words: RegExp): Promise<void> {
    const digits = await template.newContact()
    const before = await mediaRows(template.world)
    const answer = await template.send(request(kind, digits, url))
    const message = expectRefusal(answer, 'Invalid media')
    expect(message).toMatch(/^headerMedia cannot be used: /)
    expect(message).toMatch(words)
    await template.expectNothingSent(digits)
    expect(await mediaRows(template.world)).toEqual(before)
    const singles = await template.world.database.pool.query(
      'SELECT FROM broadcast_recipients r JOIN contacts c ON c.id = r.contact_id WHERE c.chat_id = $1',
      [digits],
    )
    expect(singles.rowCount).toBe(0)
  }

  it.each([
    ['image', 'GIF', gif(), /image\/gif, and image messages take JPEG/],
    ['image', 'WebP', webp(), /image\/webp/],
    ['image', 'MP4', mp4(), /video\/mp4/],
    ['image', 'PDF', pdf(), /application\/pdf/],
    ['video', 'JPEG', jpeg(), /image\/jpeg, and video messages take MP4/],
    ['video', '3GP', isoMedia('3gp5', ['vide', 'soun']), /video\/3gpp/],
    ['document', 'PNG', png(), /image\/png, and document messages take PDF/],
    ['document', 'sound', aac(), /audio\/aac/],
    ['document', 'words', Buffer.from('just words'), /no known type/],
    ['document', 'ZIP', zip({ a: 'x' }), /application\/zip/],
    ['image', 'nothing', Buffer.alloc(0), /it is empty/],
  ])('%s: %s', async (kind, _name, file, words) => {
    bytes = file
    await expectInvalid(kind, server.url, words)
  })

  it.each([
    ['image', jpeg(), image.maxBytes, /larger than 5 MB/],
    ['video', mp4(), video.maxBytes, /larger than 16 MB/],
  ])('a file one byte too large: %s', async (kind, file, maxBytes, words) => {
    bytes = grown(file, maxBytes + 1)
    await expectInvalid(kind, server.url, words)
  })

  it('a document one byte too large', async () => {
    const large = await startHttpServer((_asked, response) => stream(response, document.maxBytes + 1))
    await expectInvalid('document', large.url, /larger than 100 MB/)
    await large.close()
  })

  it.each([
    ['http://127.0.0.1:1/a.png', /could not be reached/],
    ['http://10.0.0.1/a.png', /10\.0\.0\.1 is private/],
    ['ftp://shop.example/a.png', /begins with neither/],
    ['not an address', /not valid/],
  ])('an invalid URL: %s', async (url, words) => {
    await expectInvalid('image', url, words)
  })

  it('an unsuccessful answer', async () => {
    await expectInvalid('image', `${template.files.url}/none`, /answered 404/)
  })

  it('a request without other errors only, and fetches nothing otherwise', async () => {
    const digits = await template.newContact()
    const { world, organization } = template
    await world.request('PATCH', `/contact?chat_id=${digits}`, { key: organization.key, body: { blocked: true } })
    server.taken.length = 0
    expectRefusal(await template.send(request('image', digits, server.url)), 'Contact blocked')
    const unknown = await template.send({ ...request('image', template.newNumber(), server.url), bodyParameters: {} })
    expectRefusal(unknown, 'Contact not found')
    expect(server.taken).toEqual([])
  })

  it('an unknown number, whose contact remains for the next try', async () => {
    bytes = gif()
    const digits = template.newNumber()
    expectRefusal(await template.send(request('image', digits, server.url)), 'Invalid media')
    bytes = png()
    expect((await template.send(request('image', digits, server.url))).body.success).toBe(true)
    expect((await contact(template.world, template.organization, digits)).body.contact.full_name).toBe('Ana')
  })
})

describe('an upload that the upstream refuses', () => {
  it('returns 200 with success false; no message is recorded, and the broadcast of one has failed', async () => {
    const { world } = template
    bytes = png()
    const digits = await template.newContact()
    await world.sim('POST', '/settings', { upload_fails: 1 })
    const before = await mediaRows(world)
    const answer = await template.send(request('image', digits, server.url), 'upload')
    await world.sim('POST', '/settings', { upload_fails: 0 })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      success: false,
      summary: { total: 1, successful: 0, failed: 1 },
      results: [{ success: false, messageId: null, error: answer.body.error }],
    })
    expect(answer.body.error).toMatch(/^Failed to upload media to upstream: ./)
    await template.expectNothingSent(digits)
    expect(await mediaRows(world)).toEqual(before)
    const { recipients } = (await template.read(`/broadcasts/${answer.body.broadcastId}/recipients`)).body
    expect(recipients).toMatchObject([{ status: 'failed', chatNumber: digits, errorMessage: answer.body.error }])

    const again = await template.send(request('image', digits, server.url), 'upload')
    expect(again.headers.get('idempotent-replayed')).toBeNull()
    expect(again.body.success).toBe(true)
  })
})

/** Serves a document of this size, generated while it is sent. */
function stream(response: ServerResponse, size: number): void {
  const head = pdf()
  const filler = Buffer.alloc(1_048_576)
  function* parts() {
    yield head
    for (let left = size - head.length; left > 0; left -= filler.length) yield filler.subarray(0, left)
  }
  Readable.from(parts()).pipe(response)
}
